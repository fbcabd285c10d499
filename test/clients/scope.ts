// What of the provider's interface this service has, as the clients divide it, and what it has not, with the reason.
export const resources = [
  'account',
  'contacts',
  'domains',
  'emailCampaigns',
  'event',
  'process',
  'senders',
  'transactionalEmails',
  'webhooks',
]

export const excluded: Record<string, string> = {
  'account.getAccountActivity': 'the action log of the own namespace says more (GET /api/v1/audit-logs)',
  'emailCampaigns.uploadImageToGallery': 'not yet: comes with the media library',
  'transactionalEmails.deleteAnSmtpTransactionalLog':
    'what was sent stays on record; a person is erased with POST /api/v1/contacts/erase',
  'webhooks.exportWebhooksHistory': 'of the provider’s enterprise plan; deliveries are read as pages',
}

/** Resources that are being built elsewhere. */
export const later = ['transactionalSMS', 'transactionalSms', 'smsTemplates']
