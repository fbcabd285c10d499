// What Scaleway Transactional Email tells through its topics, as events of ours.
// https://www.scaleway.com/en/docs/transactional-email/reference-content/webhook-events-payloads/
import type { UpstreamEvent as Told } from '../../kernel/ports.ts'
import { FeedbackFault } from './fault.ts'
import { type Fields, needText, needTime, readFields, textAt } from './reading.ts'
import { refHeader } from './take-apart.ts'

export type UpstreamEvent = Told & { raw: unknown }

type Kind = { type: UpstreamEvent['type']; bounce?: { bounceType: string; subType: string } }

const kinds: Record<string, (event: Fields) => Kind> = {
  email_queued: () => ({ type: 'send' }),
  email_delivered: () => ({ type: 'delivery' }),
  email_deferred: () => ({ type: 'deferred', bounce: { bounceType: 'Transient', subType: 'General' } }),
  email_dropped: (event) => ({ type: 'bounce', bounce: readDrop(enhancedCodeOf(event)) }),
  email_mailbox_not_found: () => ({
    type: 'bounce',
    bounce: { bounceType: 'Permanent', subType: 'NoEmail' },
  }),
  // Their filter or the receiver's: a fault of the content, and no person complained.
  email_spam: () => ({ type: 'bounce', bounce: { bounceType: 'Transient', subType: 'ContentRejected' } }),
  email_blocklisted: (event) => ({
    type: 'bounce',
    bounce: {
      bounceType: textAt(event, 'blocklist_type') === 'mailbox_full' ? 'Transient' : 'Permanent',
      subType: 'Suppressed',
    },
  }),
}

/** None for what is not about one message, and for kinds that are yet to be invented. */
export function readScalewayEvents(message: string): UpstreamEvent[] {
  const event = readFields(message, 'the event')
  const name = needText(event, 'type')
  const kind = Object.hasOwn(kinds, name) ? kinds[name]?.(event) : undefined
  if (kind === undefined) return []
  return [
    {
      provider: 'scaleway',
      upstreamId: textAt(event, 'email_id'),
      messageRef: readRef(event.email_headers),
      type: kind.type,
      recipient: readAddress(event),
      at: needTime(event, 'created_at'),
      ...(kind.bounce === undefined ? {} : { bounce: { ...kind.bounce, ...readCodes(event) } }),
      raw: event,
    },
  ]
}

/** Dropped is any final refusal. Only a code that speaks of the address itself condemns the address. */
function readDrop(enhancedCode: string | null): { bounceType: string; subType: string } {
  if (/^5\.1\.(1|2|3|6|10)$/.test(enhancedCode ?? '')) return { bounceType: 'Permanent', subType: 'NoEmail' }
  if (/^[45]\.2\.2$/.test(enhancedCode ?? '')) return { bounceType: 'Transient', subType: 'MailboxFull' }
  if (/^5\.(2\.3|3\.4)$/.test(enhancedCode ?? ''))
    return { bounceType: 'Transient', subType: 'MessageTooLarge' }
  if (/^5\.[67]\./.test(enhancedCode ?? '')) return { bounceType: 'Transient', subType: 'ContentRejected' }
  return { bounceType: 'Undetermined', subType: 'Undetermined' }
}

const diagnosticOf = (event: Fields) =>
  textAt(event, 'email_response_message') ?? textAt(event, 'blocklist_reason')

function enhancedCodeOf(event: Fields): string | null {
  return /(?:^|[\s#(])([245]\.\d{1,3}\.\d{1,3})(?!\d|\.\d)/.exec(diagnosticOf(event) ?? '')?.[1] ?? null
}

function readCodes(event: Fields) {
  const code = event.email_response_code
  // 0 stands for an attempt that did not reach a server.
  const smtpCode = typeof code === 'number' && code >= 200 && code < 600 ? code : null
  return { smtpCode, enhancedCode: enhancedCodeOf(event), diagnostic: diagnosticOf(event) }
}

function readRef(headers: unknown): string | null {
  const list: unknown[] = Array.isArray(headers) ? headers : []
  const found = list.find((each): each is { key: string; value: string } => {
    const { key, value } = (each ?? {}) as { key?: unknown; value?: unknown }
    return (
      typeof key === 'string' && key.toLowerCase() === refHeader.toLowerCase() && typeof value === 'string'
    )
  })
  return found?.value.trim() || null
}

function readAddress(event: Fields): string {
  const text = needText(event, 'email_to').trim()
  const address = /<([^<>]+)>$/.exec(text)?.[1] ?? text
  if (!address.includes('@')) throw new FeedbackFault('malformed', 'email_to is not an address')
  return address
}
