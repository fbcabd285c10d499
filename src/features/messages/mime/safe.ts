// What may go into a header. The caller asks before it accepts a message; composeMail asks again.
import { contentType } from '../../../kernel/patterns.ts'
import { plainField } from './fields.ts'

const control = /(?!\t)[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u

/** Line breaks of any kind, other control characters (a tab is none here), half of a surrogate pair. */
export function hasControl(text: string): boolean {
  return control.test(text)
}

/** What a customer may not set, in lower case; `isStructural` knows the prefixes as well. */
export const structuralHeaders: ReadonlySet<string> = new Set([
  'from',
  'sender',
  'to',
  'cc',
  'bcc',
  'reply-to',
  'subject',
  'date',
  'message-id',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
  'content-disposition',
  'content-id',
  'content-description',
  'content-length',
  'return-path',
  'received',
  'delivered-to',
  'envelope-to',
  'errors-to',
  'bounces-to',
  'return-receipt-to',
  'disposition-notification-to',
  'dkim-signature',
  'domainkey-signature',
  'authentication-results',
  'received-spf',
  'arc-seal',
  'arc-message-signature',
  'arc-authentication-results',
  'feedback-id',
])

const structuralPrefixes = ['content-', 'arc-', 'resent-', 'x-posthorn-', 'x-ses-']

export function isStructural(name: string): boolean {
  const lower = name.toLowerCase()
  return structuralHeaders.has(lower) || structuralPrefixes.some((prefix) => lower.startsWith(prefix))
}

/** What clients of an API send their key in; some put it into the message by mistake. */
export const holdsKey = (name: string) =>
  /^(?:api-key|partner-key|x-api-key|x-sib-api-key|(?:proxy-)?authorization)$/i.test(name)

// Addresses and identifiers stand in these; encoded-words would break them.
const machineRead = /^(list-.*|in-reply-to|references|auto-submitted|precedence|feedback-id)$/i

const ascii = /^[\t -~]*$/

/** Printable ASCII without the colon, RFC 5322 §3.6.8. */
export const isHeaderName = (name: string) => /^[!-9;-~]{1,126}$/.test(name)

/** False for a value outside ASCII in a header that only machines read. */
export const isWritable = (name: string, value: string) => ascii.test(value) || !machineRead.test(name)

// RFC 5322 §3.6, RFC 8058 §3.1 and the list of SES.
const atMostOnce = new Set([
  'sender',
  'in-reply-to',
  'references',
  'auto-submitted',
  'feedback-id',
  'list-id',
])
const isAtMostOnce = (lower: string) => atMostOnce.has(lower) || lower.startsWith('list-unsubscribe')

/** Those that stand again, in whichever spelling, although a message may hold them only once. */
export function repeatedHeaders(names: string[]): string[] {
  const seen = new Set<string>()
  return names.filter((name) => {
    const lower = name.toLowerCase()
    const isRepeated = seen.has(lower) && isAtMostOnce(lower)
    seen.add(lower)
    return isRepeated
  })
}

export const faultOfRepeated = (name: string) =>
  `The header ${name} is given twice; a message may hold it only once, in whichever spelling.`

const mostHeaders = { count: 200, octets: 64_000 }

/** Of all headers that a customer sets; every copy of a message holds them. */
export function faultOfSize(headers: [name: string, value: string][]): string | undefined {
  const { count, octets } = mostHeaders
  if (headers.length > count) return `A message may have at most ${count} headers of its own.`
  const size = headers.reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value),
    0,
  )
  return size > octets ? `The headers of a message may have at most ${octets} octets together.` : undefined
}

const longestHeader = 996

/** What is wrong with a header that a customer wants to set, as a sentence. */
export function faultOfHeader(name: string, value: string): string | undefined {
  if (!isHeaderName(name))
    return 'A header name has 1 to 126 printable ASCII characters and neither space nor colon.'
  if (isStructural(name)) return `The header ${name} cannot be set.`
  if (holdsKey(name)) return `The header ${name} holds a key, which no mail may carry: it cannot be set.`
  if (hasControl(value)) return `The value of the header ${name} contains a line break or control character.`
  if (!isWritable(name, value)) return `The value of the header ${name} may contain only ASCII characters.`
  if (isTooLong(name, value)) return `The header ${name} is longer than ${longestHeader} octets when encoded.`
  return undefined
}

// No character takes less than one octet: what is too long as it is given is not encoded, and fits on no line either.
const isTooLong = (name: string, value: string) =>
  value.length > longestHeader ||
  `${name}: ${value.trim()}`.length > longestHeader ||
  plainField(name, value).length - '\r\n'.length > longestHeader

/** What can stand between angle brackets: ASCII, the domain in A-labels, no quoted-string that hides a second one. */
export function isWireAddress(email: string): boolean {
  return email.length <= 320 && wireAddress.test(email)
}

const wireAddress =
  /^(?:[\w!#$%&'*+/=?^`{|}~.-]+|"[\w!#$%&'*+/=?^`{|}~.() [\]-]+")@(?:[\w.-]+|\[[0-9A-Fa-f:.IPv]+\])$/

export const isMessageId = (id: string) => id.length <= 900 && /^<[!-;=?-~]+>$/.test(id)

/** With or without its angle brackets. */
export const isContentId = (id: string) => id.length <= 900 && /^(?:<[!-;=?-~]+>|[!-;=?-~]+)$/.test(id)

const contentTypeForm = new RegExp(contentType)

export const isContentType = (type: string) => type.length <= 255 && contentTypeForm.test(type)
