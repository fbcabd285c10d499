// What AWS End User Messaging tells through SNS: events of an SMS, and answers to one.
// https://docs.aws.amazon.com/sms-voice/latest/userguide/configuration-sets-event-format.html
// https://docs.aws.amazon.com/sms-voice/latest/userguide/two-way-sms-payload.html
import type { SmsReport } from '../../kernel/ports.ts'
import { messageKey } from './aws-sms.ts'

type Status = Extract<SmsReport, { kind: 'status' }>
type Fields = Record<string, unknown>

const types: Record<string, Status['type']> = {
  TEXT_QUEUED: 'sent',
  TEXT_PENDING: 'sent',
  TEXT_SENT: 'sent',
  TEXT_SUCCESSFUL: 'accepted',
  TEXT_DELIVERED: 'delivered',
  TEXT_INVALID: 'hard_bounce',
  TEXT_INVALID_MESSAGE: 'rejected',
  TEXT_UNREACHABLE: 'soft_bounce',
  TEXT_CARRIER_UNREACHABLE: 'soft_bounce',
  TEXT_UNKNOWN: 'soft_bounce',
  TEXT_TTL_EXPIRED: 'soft_bounce',
  TEXT_BLOCKED: 'rejected',
  TEXT_CARRIER_BLOCKED: 'rejected',
  TEXT_SPAM: 'rejected',
  TEXT_PROTECT_BLOCKED: 'rejected',
}

/** None for what says nothing about an SMS; undefined for what is no JSON object. */
export function readAwsReports(message: string, at: Date): SmsReport[] | undefined {
  const fields = objectIn(message)
  if (!fields) return undefined
  const reply = readReply(fields, at)
  if (reply) return [reply]
  const status = readStatus(fields, at)
  return status ? [status] : []
}

function readStatus(fields: Fields, at: Date): Status | undefined {
  const [event, upstreamId] = [textAt(fields, 'eventType'), textAt(fields, 'messageId')]
  const type = Object.hasOwn(types, event) ? types[event] : undefined
  if (type === undefined || upstreamId === '') return undefined
  const context = (fields.context ?? {}) as Fields
  const told = textAt(fields, 'messageStatusDescription')
  return {
    kind: 'status',
    type,
    messageRef: textAt(context, messageKey) || null,
    upstreamId,
    at: timeAt(fields, 'eventTimestamp') ?? at,
    description: told === '' ? event : `${event}: ${told}`,
  }
}

function readReply(fields: Fields, at: Date): SmsReport | undefined {
  const [from, text] = [textAt(fields, 'originationNumber'), textAt(fields, 'messageBody')]
  if (from === '' || textAt(fields, 'inboundMessageId') === '') return undefined
  return { kind: 'reply', from, text, upstreamId: textAt(fields, 'previousPublishedMessageId') || null, at }
}

function objectIn(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Fields)
      : undefined
  } catch {
    return undefined
  }
}

const textAt = (of: Fields, name: string): string => {
  const value = of?.[name]
  return typeof value === 'string' ? value : ''
}

function timeAt(of: Fields, name: string): Date | undefined {
  const value = of[name]
  const time = typeof value === 'number' ? new Date(value) : undefined
  return time && !Number.isNaN(time.getTime()) ? time : undefined
}
