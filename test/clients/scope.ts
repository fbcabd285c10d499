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
  'transactionalSms',
  'webhooks',
]

export const excluded: Record<string, string> = {
  'account.getAccountActivity': 'the action log of the own namespace says more (GET /api/v1/audit-logs)',
  'transactionalEmails.deleteAnSmtpTransactionalLog':
    'what was sent stays on record; a person is erased with POST /api/v1/contacts/erase',
  'webhooks.exportWebhooksHistory': 'of the provider’s enterprise plan; deliveries are read as pages',
}

/** Resources of which nothing is driven, because the service has none of it. */
export const outside: Record<string, string> = {
  smsTemplates: 'the text of an SMS comes with its request',
  balance: 'loyalty',
  companies: 'CRM',
  consentGroups: 'a consent is kept with each contact',
  conversations: 'chat',
  coupons: 'shops',
  customObjects: 'CRM',
  deals: 'CRM',
  ecommerce: 'shops',
  externalFeeds: 'feeds',
  files: 'CRM',
  inboundParsing: 'no mail is received',
  masterAccount: 'accounts are made with the command line',
  notes: 'CRM',
  payments: 'shops',
  program: 'loyalty',
  reseller: 'accounts are made with the command line',
  reward: 'loyalty',
  sMSCampaigns: 'SMS campaigns',
  smsCampaigns: 'SMS campaigns',
  tasks: 'CRM',
  tier: 'loyalty',
  transactionalWhatsApp: 'WhatsApp',
  user: 'accounts have keys, not users',
  wallet: 'loyalty',
  whatsAppCampaigns: 'WhatsApp',
}

const sendsNumber = 'it fails before it sends anything: it gives a number as the body of a request'

/** What a client offers and cannot do with anybody. */
export const broken: Record<string, Record<string, string>> = {
  '@getbrevo/brevo 2': { 'transactionalSms.sendAsyncTransactionalSms': 'it sends no body' },
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
