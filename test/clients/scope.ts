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

const sendsNumber = 'it fails before it sends anything: it gives a number as the body of a request'

/** What a client offers and cannot do with anybody. */
export const broken: Record<string, Record<string, string>> = {
  '@getbrevo/brevo 3': {
    'emailCampaigns.getEmailCampaign': sendsNumber,
    'emailCampaigns.sendEmailCampaignNow': sendsNumber,
    'emailCampaigns.getAbTestCampaignResult': sendsNumber,
  },
}

/** Where the types of the clients contradict each other, what one of them has to bear. */
export const borne: Record<string, Record<string, string>> = {
  '@getbrevo/brevo 6': { 'answer.domains[0].id': 'the other clients have a number' },
}
