// What Amazon SES tells through SNS, as events of ours.

import type { UpstreamEvent as Told } from '../../kernel/ports.ts'
import { FeedbackFault } from './fault.ts'
import {
  type Fields,
  needFields,
  needFieldsList,
  needList,
  needText,
  needTime,
  readFields,
  textAt,
} from './reading.ts'
import { messageTag } from './ses.ts'

export type UpstreamEvent = Told & { raw: unknown }

type Found = Pick<UpstreamEvent, 'type' | 'at' | 'bounce' | 'complaint'> & { recipient: unknown }

// Identity notifications have the same contents and call the field notificationType.
const readers: Record<string, (event: Fields, mail: Fields) => Found[]> = {
  Send: (_, mail) => forEach(mail, 'destination', { type: 'send', at: needTime(mail, 'timestamp') }),
  Delivery: readDelivery,
  DeliveryDelay: readDelay,
  Bounce: readBounce,
  Complaint: readComplaint,
  Reject: readReject,
  'Rendering Failure': readReject,
}

/** None for what says nothing about delivery: opens, clicks, subscriptions, kinds that are yet to be invented. */
export function readSesEvents(message: string): UpstreamEvent[] {
  // The one plain text: SES says so when a topic becomes the destination of a configuration set.
  if (message.startsWith('Successfully validated SNS topic')) return []
  const event = readFields(message, 'the event')
  const kind = textAt(event, 'eventType') ?? needText(event, 'notificationType')
  const reader = Object.hasOwn(readers, kind) ? readers[kind] : undefined
  if (reader === undefined) return []
  const mail = needFields(event, 'mail')
  return reader(event, mail).map((found) => ({
    provider: 'ses',
    upstreamId: needText(mail, 'messageId'),
    messageRef: readRef(mail),
    ...found,
    recipient: readAddress(found.recipient),
    raw: event,
  }))
}

const forEach = (of: Fields, list: string, rest: Omit<Found, 'recipient'>): Found[] =>
  needList(of, list).map((recipient) => ({ ...rest, recipient }))

function readDelivery(event: Fields): Found[] {
  const delivery = needFields(event, 'delivery')
  return forEach(delivery, 'recipients', { type: 'delivery', at: needTime(delivery, 'timestamp') })
}

function readDelay(event: Fields): Found[] {
  const delay = needFields(event, 'deliveryDelay')
  const at = needTime(delay, 'timestamp')
  return needFieldsList(delay, 'delayedRecipients').map((each) => ({
    type: 'deferred',
    at,
    recipient: each.emailAddress,
    bounce: { bounceType: 'Transient', subType: textAt(delay, 'delayType'), ...readCodes(each) },
  }))
}

function readBounce(event: Fields): Found[] {
  const bounce = needFields(event, 'bounce')
  const at = needTime(bounce, 'timestamp')
  const bounceType = needText(bounce, 'bounceType')
  return needFieldsList(bounce, 'bouncedRecipients').map((each) => ({
    type: 'bounce',
    at,
    recipient: each.emailAddress,
    bounce: { bounceType, subType: textAt(bounce, 'bounceSubType'), ...readCodes(each) },
  }))
}

function readComplaint(event: Fields): Found[] {
  const complaint = needFields(event, 'complaint')
  const feedbackType = textAt(complaint, 'complaintFeedbackType')
  // The first is a person who says that it is not spam, the second a broken signature: neither complains.
  if (feedbackType === 'not-spam' || feedbackType === 'auth-failure') return []
  const at = needTime(complaint, 'timestamp')
  return needFieldsList(complaint, 'complainedRecipients').map((each) => ({
    type: 'complaint',
    at,
    recipient: each.emailAddress,
    complaint: { feedbackType, subType: textAt(complaint, 'complaintSubType') },
  }))
}

function readReject(_: Fields, mail: Fields): Found[] {
  return forEach(mail, 'destination', { type: 'reject', at: needTime(mail, 'timestamp') })
}

function readCodes(recipient: Fields) {
  const diagnostic = textAt(recipient, 'diagnosticCode')
  const code = /(?:^|[;\s])([245]\d\d)[\s-]/.exec(diagnostic ?? '')?.[1]
  const told = `${textAt(recipient, 'status') ?? ''} ${diagnostic ?? ''}`
  return {
    smtpCode: code === undefined ? null : Number(code),
    enhancedCode: /(?:^|[\s#(])([245]\.\d{1,3}\.\d{1,3})(?!\d|\.\d)/.exec(told)?.[1] ?? null,
    diagnostic,
  }
}

function readRef(mail: Fields): string | null {
  if (mail.tags === undefined || mail.tags === null) return null
  const [ref] = [needFields(mail, 'tags')[messageTag]].flat()
  return typeof ref === 'string' ? ref : null
}

function readAddress(value: unknown): string {
  const text = typeof value === 'string' ? value.trim() : ''
  const address = /<([^<>]+)>$/.exec(text)?.[1] ?? text
  if (!address.includes('@')) throw new FeedbackFault('malformed', 'a recipient is not an address')
  return address
}
