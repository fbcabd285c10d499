// What a receiver reads, field by field as the compatible provider has it.
import { LRUCache } from 'lru-cache'
import { showId } from '../../kernel/id.ts'
import type { QueuedRow } from './queue-queries.ts'

/** Of one call: whose webhook, and in which time zone its account lives. */
export type Told = { webhookId: string; timezone: string }

export const deliveryId = (id: string) => showId('whd', id)

type Payload = Record<string, unknown>

/** Nothing for an event whose message is gone. */
export function payloadOf(told: Told, queued: QueuedRow): Payload | undefined {
  if (queued.message_id === null) return otherPayload(told, queued)
  if (queued.recipient === null || queued.at === null) return undefined
  return messagePayload(told, queued, queued.at)
}

export function messagePayload(told: Told, queued: QueuedRow, at: Date): Payload {
  return queued.campaign_id === null
    ? transactionalPayload(told, queued, at)
    : marketingPayload(told, queued, at)
}

const seconds = (at: Date) => Math.floor(at.getTime() / 1000)

function transactionalPayload(told: Told, queued: QueuedRow, at: Date): Payload {
  const { event, metadata } = queued
  const { 'X-Mailin-custom': custom, ...own } = metadata ?? {}
  const short = {
    id: Number(told.webhookId),
    event,
    email: queued.recipient,
    date: dateIn(told.timezone, at),
    ts: seconds(at),
    ts_event: seconds(at),
    'message-id': queued.rfc_id,
    ...(custom !== undefined && { 'X-Mailin-custom': custom }),
    ...(Object.keys(own).length > 0 && { metadata: own }),
  }
  const tags = queued.tags ?? []
  if (event === 'spam') return { ...short, ...(tags.length > 0 && { tags }) }
  return {
    ...short,
    ts_epoch: at.getTime(),
    subject: queued.subject,
    ...(queued.template_id !== null && { template_id: Number(queued.template_id) }),
    ...(tags.length > 0 && event !== 'unsubscribed' && { tags }),
    ...tagOf(queued, tags),
    sender_email: queued.sender,
    contact_id: Number(queued.contact_id ?? 0),
    // The address that the mail left from is known to the upstream alone.
    ...(!isRefused(event) && { sending_ip: '' }),
    ...detailsOf(queued),
  }
}

const isRefused = (event: string) => event === 'blocked' || event === 'invalid_email'

/** A tag of a header as it stands, others as a list in a text; where there is none, the name of the template. */
function tagOf({ source, template_name }: QueuedRow, tags: string[]): { tag?: string } {
  if (tags.length > 0) return { tag: source === 'smtp' ? tags[0] : JSON.stringify(tags) }
  return template_name === null ? {} : { tag: template_name }
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

function detailsOf({ event, event_data }: QueuedRow): Payload {
  const data = event_data ?? {}
  switch (event) {
    case 'request':
      return { mirror_link: '' }
    case 'hard_bounce':
    case 'soft_bounce':
    case 'deferred':
    case 'invalid_email':
    case 'blocked':
      return { reason: textOf(data.reason) }
    case 'delivered':
      return {}
    default:
      return { ...visitOf(data), ...linkOf(event, data) }
  }
}

function visitOf(data: Payload): Payload {
  const userAgent = textOf(data.user_agent)
  return {
    user_agent: userAgent,
    device_used: deviceOf(userAgent),
    mirror_link: '',
    ...(data.classification !== undefined && { classification: data.classification }),
  }
}

function linkOf(event: string, data: Payload): Payload {
  if (event === 'click') return { link: textOf(data.url) }
  return event.endsWith('proxy_open') ? { link: '' } : {}
}

function deviceOf(userAgent: string): string {
  if (userAgent === '') return 'UNKNOWN'
  if (/ipad|tablet|android(?!.*mobile)/i.test(userAgent)) return 'TABLET'
  return /mobi|iphone|android/i.test(userAgent) ? 'MOBILE' : 'DESKTOP'
}

function marketingPayload({ webhookId, timezone }: Told, queued: QueuedRow, at: Date): Payload {
  const sentAt = queued.sent_at ?? at
  return {
    id: Number(webhookId),
    event: queued.event,
    email: queued.recipient,
    camp_id: Number(queued.campaign_id),
    'campaign name': queued.campaign_name ?? '',
    date_sent: dateIn(timezone, sentAt),
    date_event: dateIn(timezone, at),
    ts_sent: seconds(sentAt),
    ts_event: seconds(at),
    ts: seconds(at),
    tag: queued.tag ?? '',
    ...campaignDetailsOf(queued),
  }
}

function campaignDetailsOf({ event, event_data, list_id }: QueuedRow): Payload {
  const data = event_data ?? {}
  switch (event) {
    case 'delivered':
      return { sending_ip: '' }
    case 'hard_bounce':
    case 'soft_bounce':
      return { reason: textOf(data.reason), sending_ip: '' }
    case 'spam':
      return { reason: textOf(data.feedback_type) }
    case 'unsubscribe':
      return { list_id: listsOf(data.list_id ?? list_id), sending_ip: '' }
    case 'click':
      return { URL: textOf(data.url), classification: data.classification }
    default:
      return { classification: data.classification }
  }
}

const listsOf = (list: unknown): number[] => (list === null || list === undefined ? [] : [Number(list)])

function otherPayload({ webhookId, timezone }: Told, queued: QueuedRow): Payload {
  return {
    id: Number(webhookId),
    event: queued.event,
    ...(queued.email !== null && { email: queued.email }),
    key: deliveryId(queued.id),
    date: dateIn(timezone, queued.created_at),
    ts: seconds(queued.created_at),
    ...queued.data,
  }
}

const zones = new LRUCache<string, Intl.DateTimeFormat>({ max: 100 })

/** 2026-11-15 09:30:00, in Sweden the usual way to write it. */
function dateIn(timezone: string, at: Date): string {
  const known = zones.get(timezone)
  if (known) return known.format(at)
  const made = new Intl.DateTimeFormat('sv-SE', {
    timeZone: timezone,
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  zones.set(timezone, made)
  return made.format(at)
}
