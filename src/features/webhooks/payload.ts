// What a receiver reads, field by field as the compatible provider has it.
import { LRUCache } from 'lru-cache'
import { showId } from '../../kernel/id.ts'
import { upstreamWords } from '../messages/bounces/upstream-words.ts'
import type { QueuedRow } from './queue-queries.ts'

/** Of one call: whose webhook, in which time zone its account lives, and where its messages are pages. */
export type Told = { webhookId: string; timezone: string; pageOf?: (messageId: string) => string }

export const deliveryId = (id: string) => showId('whd', id)

type Payload = Record<string, unknown>

/** Nothing for an event whose message is gone. */
export function payloadOf(told: Told, queued: QueuedRow): Payload | undefined {
  if (queued.data?.msg_status !== undefined) return smsPayload(told, queued)
  const { at } = queued
  if (at === null) return undefined
  if (queued.message_id === null) return otherPayload(told, queued, at)
  return queued.recipient === null ? undefined : messagePayload(told, queued, at)
}

export function messagePayload(told: Told, queued: QueuedRow, at: Date): Payload {
  return queued.campaign_id === null
    ? transactionalPayload(told, queued, at)
    : marketingPayload(told, queued, at)
}

const seconds = (at: Date) => Math.floor(at.getTime() / 1000)

// Field after field: spreading a handful of small objects takes longer than all the rest of a call.
function transactionalPayload(told: Told, queued: QueuedRow, at: Date): Payload {
  const { event } = queued
  const tags = queued.tags ?? []
  const payload: Payload = {
    id: Number(told.webhookId),
    event,
    email: queued.recipient,
    date: dateIn(told.timezone, at),
    ts: seconds(at),
    ts_event: seconds(at),
    'message-id': queued.rfc_id,
  }
  if (queued.metadata) addMetadata(payload, queued.metadata)
  if (tags.length > 0 && event !== 'unsubscribed') payload.tags = tags
  if (event === 'spam') return payload
  payload.ts_epoch = at.getTime()
  payload.subject = queued.subject
  payload.sender_email = queued.sender
  payload.contact_id = Number(queued.contact_id ?? 0)
  if (queued.template_id !== null) payload.template_id = Number(queued.template_id)
  const tag = tagOf(queued, tags)
  if (tag !== undefined) payload.tag = tag
  // The address that the mail left from is known to the upstream alone.
  if (!isRefused(event)) payload.sending_ip = ''
  return Object.assign(payload, detailsOf(told, queued))
}

function addMetadata(payload: Payload, metadata: Record<string, string>): void {
  const { 'X-Mailin-custom': custom, 'X-Mailin-Tag': _, ...own } = metadata
  if (custom !== undefined) payload['X-Mailin-custom'] = custom
  if (Object.keys(own).length > 0) payload.metadata = own
}

const isRefused = (event: string) => event === 'blocked' || event === 'invalid_email'

/** A tag of a header as it stands, others as a list in a text; where there is none, the name of the template. */
function tagOf({ source, template_name, metadata }: QueuedRow, tags: string[]): string | undefined {
  const isOfHeader = source === 'smtp' || metadata?.['X-Mailin-Tag'] !== undefined
  if (tags.length > 0) return isOfHeader ? tags[0] : JSON.stringify(tags)
  return template_name ?? undefined
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

function detailsOf(told: Told, queued: QueuedRow): Payload {
  const { event } = queued
  const data = queued.event_data ?? {}
  switch (event) {
    case 'request':
      return { mirror_link: mirrorOf(told, queued) }
    case 'hard_bounce':
    case 'soft_bounce':
    case 'deferred':
    case 'invalid_email':
    case 'blocked':
      return { reason: upstreamWords(data) ?? '' }
    case 'delivered':
      return {}
    default:
      return visitOf(event, data, mirrorOf(told, queued))
  }
}

/** What came composed over the relay has no page. */
const mirrorOf = ({ pageOf }: Told, { source, message_id }: QueuedRow) =>
  source === 'smtp' || message_id === null ? '' : (pageOf?.(message_id) ?? '')

function visitOf(event: string, data: Payload, mirror_link: string): Payload {
  const userAgent = textOf(data.user_agent)
  const visit: Payload = { user_agent: userAgent, device_used: deviceOf(userAgent), mirror_link }
  if (data.classification !== undefined) visit.classification = data.classification
  if (event === 'click') visit.link = textOf(data.url)
  if (event.endsWith('proxy_open')) visit.link = ''
  return visit
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
      return { reason: upstreamWords(data) ?? '', sending_ip: '' }
    case 'spam':
      return { reason: textOf(data.feedback_type) }
    case 'unsubscribe':
      return { list_id: listsOf(data.list_ids ?? data.list_id ?? list_id), sending_ip: '' }
    case 'click':
      return { URL: textOf(data.url), classification: data.classification }
    default:
      return { classification: data.classification }
  }
}

const listsOf = (left: unknown): number[] =>
  left === null || left === undefined ? [] : [left].flat().map(Number)

/** The rest was written down when it happened, with the SMS. */
function smsPayload({ webhookId, timezone }: Told, { data }: QueuedRow): Payload {
  const at = new Date(Number(data?.ts_event) * 1000)
  return { id: Number(webhookId), ...data, date: dateIn(timezone, at) }
}

function otherPayload({ webhookId, timezone }: Told, queued: QueuedRow, at: Date): Payload {
  return {
    id: Number(webhookId),
    event: queued.event,
    ...(queued.email !== null && { email: queued.email }),
    key: deliveryId(queued.id),
    date: dateIn(timezone, at),
    ts: seconds(at),
    ...queued.data,
  }
}

type Zone = { format: Intl.DateTimeFormat; second: number; text: string }
const zones = new LRUCache<string, Zone>({ max: 100 })

/** 2026-11-15 09:30:00, in Sweden the usual way to write it. Events come many in a second. */
function dateIn(timezone: string, at: Date): string {
  const zone = zones.get(timezone) ?? openZone(timezone)
  const second = seconds(at)
  if (zone.second !== second) [zone.second, zone.text] = [second, zone.format.format(at)]
  return zone.text
}

function openZone(timeZone: string): Zone {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  const zone = { format, second: Number.NaN, text: '' }
  zones.set(timeZone, zone)
  return zone
}
