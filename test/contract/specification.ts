export type Asked = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  scope: string | null
  perMinute: number
  public?: true
  idempotent?: true
}

// Columns: method, path, scope ("-" for none), then what is out of the ordinary:
// requests per minute where they are not 600, "public" (no key), "idempotent" (takes Idempotency-Key).
const table = `
  # Discovery
  GET     /api/v1/capabilities                      -                  public
  GET     /api/v1/health                            -

  # Transactional
  POST    /api/v1/transactional/send                email.send         60 idempotent
  POST    /v3/smtp/email                            email.send         300
  GET     /v3/smtp/templates                        email.send
  POST    /v3/transactionalSMS/sms                  email.send         300
  GET     /v3/smtp/statistics/aggregatedReport      analytics.read

  # Messages
  GET     /api/v1/messages                          email.read_status
  POST    /api/v1/messages/validate                 email.send
  GET     /api/v1/messages/{id}                     email.read_status

  # Campaigns (own namespace)
  POST    /api/v1/automations/abandoned-cart        email.send
  POST    /api/v1/campaigns/conversion              -
  POST    /api/v1/campaigns/preview                 email.send
  POST    /api/v1/campaigns/send                    email.send         10 idempotent
  GET     /api/v1/campaigns/{id}/stats              analytics.read

  # Campaigns (compatible namespace)
  GET     /v3/emailCampaigns                        email.send
  POST    /v3/emailCampaigns                        email.send
  GET     /v3/emailCampaigns/{id}                   email.send
  PUT     /v3/emailCampaigns/{id}                   email.send
  DELETE  /v3/emailCampaigns/{id}                   email.send
  POST    /v3/emailCampaigns/{id}/cancel            email.send
  POST    /v3/emailCampaigns/{id}/pause             email.send
  POST    /v3/emailCampaigns/{id}/stop              email.send
  POST    /v3/emailCampaigns/{id}/resume            email.send
  POST    /v3/emailCampaigns/{id}/schedule          email.send
  POST    /v3/emailCampaigns/{id}/sendNow           email.send         10
  POST    /v3/emailCampaigns/{id}/sendTest          email.send         20
  GET     /v3/emailCampaigns/{id}/statistics        analytics.read
  PUT     /v3/emailCampaigns/{id}/status            email.send
  GET     /v3/emailCampaigns/{id}/recipients        analytics.read

  # Contacts, lists, folders, attributes
  GET     /v3/contacts                              contacts.read
  POST    /v3/contacts                              contacts.write
  GET     /v3/contacts/{identifier}                 contacts.read
  PUT     /v3/contacts/{identifier}                 contacts.write
  DELETE  /v3/contacts/{identifier}                 contacts.write
  POST    /v3/contacts/{identifier}/resubscribe     contacts.write
  POST    /v3/contacts/{identifier}/tags            contacts.write
  DELETE  /v3/contacts/{identifier}/tags            contacts.write
  GET     /v3/contacts/{id}/history                 contacts.read
  GET     /v3/contacts/attributes                   contacts.read
  POST    /v3/contacts/attributes/{category}/{name} contacts.write
  PUT     /v3/contacts/attributes/{category}/{name} contacts.write
  DELETE  /v3/contacts/attributes/{category}/{name} contacts.write
  POST    /v3/contacts/import                       contacts.write
  GET     /v3/contacts/lists                        contacts.read
  POST    /v3/contacts/lists                        contacts.write
  GET     /v3/contacts/lists/{id}                   contacts.read
  PUT     /v3/contacts/lists/{id}                   contacts.write
  DELETE  /v3/contacts/lists/{id}                   contacts.write
  GET     /v3/contacts/folders                      contacts.read
  POST    /v3/contacts/folders                      contacts.write
  GET     /v3/contacts/folders/{id}                 contacts.read
  PUT     /v3/contacts/folders/{id}                 contacts.write
  DELETE  /v3/contacts/folders/{id}                 contacts.write
  GET     /v3/contacts/folders/{id}/lists           contacts.read

  # Unsubscription
  GET     /v3/unsubscribe/{token}                   -                  public
  POST    /v3/unsubscribe/{token}                   -                  public

  # Segments
  GET     /v3/segments                              contacts.read
  GET     /v3/segments/{id}                         contacts.read
  GET     /v3/segments/{id}/contacts                contacts.read

  # Events and conversions
  POST    /v3/conversions                           events.write
  POST    /v3/events                                events.write
  GET     /v3/events/names                          analytics.read

  # Domains
  GET     /api/v1/domains                           domain.read
  POST    /api/v1/domains                           domain.write       idempotent
  POST    /api/v1/domains/verify                    domain.write
  GET     /api/v1/domains/{domain}/dns              domain.read

  # Deliverability and statistics
  GET     /api/v1/deliverability/diagnose           analytics.read
  GET     /api/v1/stats/cohorts                     analytics.read
  GET     /api/v1/stats/deliverability              analytics.read
  GET     /api/v1/stats/engagement                  analytics.read
  GET     /api/v1/stats/revenue                     analytics.read

  # Suppressions
  GET     /api/v1/suppressions                      contacts.read
  DELETE  /api/v1/suppressions/{email}              contacts.write

  # Account and settings
  GET     /api/v1/audit-logs                        analytics.read
  GET     /api/v1/settings                          analytics.read
  PUT     /api/v1/settings                          settings.write
  GET     /api/v1/usage                             billing.read
  GET     /v3/account                               billing.read
  GET     /v3/senders                               domain.read
  POST    /v3/senders                               domain.write
  DELETE  /v3/senders/{id}                          domain.write

  # Webhooks
  GET     /v3/webhooks                              analytics.read
  POST    /v3/webhooks                              settings.write
  GET     /v3/webhooks/{id}                         analytics.read
  PUT     /v3/webhooks/{id}                         settings.write
  DELETE  /v3/webhooks/{id}                         settings.write

  # Outreach
  GET     /v3/outreach/campaigns                    contacts.read
  POST    /v3/outreach/campaigns                    email.send
  GET     /v3/outreach/campaigns/{id}               contacts.read
  PUT     /v3/outreach/campaigns/{id}               email.send
  DELETE  /v3/outreach/campaigns/{id}               email.send
  POST    /v3/outreach/campaigns/{id}/enroll        email.send         60
  GET     /v3/outreach/campaigns/{id}/stats         analytics.read
  POST    /v3/outreach/campaigns/{id}/status        email.send
  GET     /v3/outreach/identity                     contacts.read
  PUT     /v3/outreach/identity                     settings.write
  GET     /v3/outreach/inbox                        contacts.read
  GET     /v3/outreach/inbox/{id}                   contacts.read
  PUT     /v3/outreach/inbox/{id}                   contacts.write
  POST    /v3/outreach/inbox/{id}/reply             email.send         30 idempotent
  GET     /v3/outreach/mailboxes                    contacts.read
  POST    /v3/outreach/mailboxes                    settings.write
  GET     /v3/outreach/mailboxes/{id}               contacts.read
  PUT     /v3/outreach/mailboxes/{id}               settings.write
  DELETE  /v3/outreach/mailboxes/{id}               settings.write
  GET     /v3/outreach/prospects                    contacts.read
  POST    /v3/outreach/prospects                    contacts.write     60
  DELETE  /v3/outreach/prospects                    contacts.write
  GET     /v3/outreach/prospects/{id}               contacts.read
  PUT     /v3/outreach/prospects/{id}               contacts.write
  DELETE  /v3/outreach/prospects/{id}               contacts.write

  # Media library
  GET     /v3/media                                 analytics.read
  POST    /v3/media                                 settings.write     60
  GET     /v3/media/{uuid}                          analytics.read
  DELETE  /v3/media/{uuid}                          settings.write

  # Data-subject rights
  POST    /api/v1/contacts/erase                    contacts.write
  GET     /api/v1/contacts/export                   contacts.read
`

const methods = ['GET', 'POST', 'PUT', 'DELETE'] as const

const parse = (line: string): Asked => {
  const [word, path, scope, ...marks] = line.split(/\s+/)
  const method = methods.find((known) => known === word)
  const stray = marks.filter((mark) => !/^(\d+|public|idempotent)$/.test(mark))
  if (!method || !path || !scope || stray.length > 0) throw new Error(`Not a row of the table: ${line}`)
  return {
    method,
    path,
    scope: scope === '-' ? null : scope,
    perMinute: Number(marks.find((mark) => /^\d+$/.test(mark)) ?? 600),
    ...(marks.includes('public') && { public: true }),
    ...(marks.includes('idempotent') && { idempotent: true }),
  }
}

export const asked: Asked[] = table
  .split('\n')
  .map((line) => line.trim())
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map(parse)
