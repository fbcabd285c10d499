// What a test call tells: an event of the form that real ones have, about nobody.
import type { WebhookType } from './events.ts'
import { messagePayload, type Told } from './payload.ts'
import type { QueuedRow } from './queue-queries.ts'

const nobody = 'test@example.com'

const brokenDomain = {
  domain: 'example.com',
  status: 'failed',
  records: [{ role: 'dkim', host: 'test._domainkey.example.com', state: 'missing' }],
}

const contactEvents: Record<string, object> = {
  list_addition: { list_id: [1] },
  contact_updated: { content: [{ FIRSTNAME: 'Test' }] },
  contact_deleted: { list_id: [1] },
}

type Sampled = Told & { type: WebhookType; event: string; id: string; at: Date }

export function sampleOf(sampled: Sampled): { email: string | null; data: object } {
  const { event } = sampled
  if (sampled.type === 'sms') return { email: smsNobody, data: smsSample(sampled) }
  if (event === 'domain_broken') return { email: null, data: brokenDomain }
  const ofContact = contactEvents[event]
  if (ofContact) return { email: nobody, data: ofContact }
  return { email: nobody, data: messagePayload({ ...sampled, pageOf }, sampleRow(sampled), sampled.at) }
}

const pageOf = () => 'https://example.com/'

const smsNobody = '33600000000'

const smsSample = ({ event, at }: Sampled) => ({
  to: smsNobody,
  sms_count: 1,
  credits_used: 1,
  messageId: 1_000_000_000_000_000,
  remaining_credit: 0,
  msg_status: event,
  type: 'transactional',
  reference: 'test',
  ts_event: Math.floor(at.getTime() / 1000),
  tag: 'test',
})

function sampleRow({ webhookId, type, event, id, at }: Sampled): QueuedRow {
  const isCampaign = type === 'marketing'
  return {
    webhook_id: webhookId,
    id,
    due: '',
    event: isCampaign && event === 'unsubscribed' ? 'unsubscribe' : event,
    batch_id: null,
    attempts: 0,
    email: null,
    data: null,
    message_id: id,
    at,
    event_data: {
      reason: 'This is a test.',
      feedback_type: 'abuse',
      user_agent: 'Mozilla/5.0',
      classification: 'human',
      url: 'https://example.com/',
    },
    recipient: nobody,
    rfc_id: '<test@example.com>',
    subject: 'Test',
    source: 'api',
    sender: 'sender@example.com',
    tags: ['test'],
    tag: 'test',
    metadata: null,
    template_id: null,
    template_name: null,
    contact_id: null,
    campaign_id: isCampaign ? '1' : null,
    campaign_name: isCampaign ? 'Test' : null,
    list_id: isCampaign ? '1' : null,
    sent_at: at,
  }
}
