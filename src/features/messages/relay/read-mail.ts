// What the header of a relayed message says, or the first thing in it that cannot be sent on.
import { decodeWords } from 'postal-mime'
import { type Address, readAddress } from '../../../kernel/email-address.ts'
import { invalidParameter } from '../../../kernel/refusals.ts'
import { isMessageId } from '../mime/safe.ts'
import { longestName, longestSubject, metadataLength, metadataLimits } from '../model.ts'
import { fieldsNamed, firstOf, metadataHeaders, type RelayedMail, tagHeaders, valueIn } from './mail.ts'

export type ReadMail = {
  from: Address
  subject: string
  tag?: string
  metadata?: Record<string, string>
  track: { opens?: false; clicks?: false }
  /** Only one that can be sent on. */
  messageId?: string
}

export function readMail(mail: RelayedMail): ReadMail {
  refuseUnreadable(mail)
  refuseDoubled(mail)
  refuseLoop(mail)
  refuseTemplate(mail)
  const messageId = valueIn(mail, 'message-id')
  return {
    from: readFrom(mail),
    subject: readable(valueIn(mail, 'subject') ?? '', longestSubject),
    tag: readTag(mail),
    metadata: readMetadata(mail),
    track: {
      ...(isSwitchedOff(mail, 'X-Posthorn-Track-Opens') && { opens: false }),
      ...(isSwitchedOff(mail, 'X-Posthorn-Track-Clicks') && { clicks: false }),
    },
    messageId: messageId !== undefined && isMessageId(messageId) ? messageId : undefined,
  }
}

const refuse = (param: string, message: string) => invalidParameter({ message, param })

const fieldForm = /^[!-9;-~]+[ \t]*:(?:[\t -~]|\r\n(?=[ \t]))*$/

function refuseUnreadable({ fields, isHeadTooLong }: RelayedMail): void {
  if (isHeadTooLong) throw refuse('header', 'The header of the message is too long.')
  for (const { text, name } of fields) {
    if (fieldForm.test(text)) continue
    // SMTPUTF8 is not offered, so text outside ASCII has to come as encoded-words.
    const isNamed = /^[!-9;-~]+[ \t]*:/.test(text)
    throw isNamed
      ? refuse(name, `The header ${name} holds characters outside printable ASCII; encode them (RFC 2047).`)
      : refuse('header', 'The header of the message holds a line that is not a header field.')
  }
}

// RFC 5322 §3.6 and RFC 2045: programs differ in which of two they believe.
const once = [
  ...['from', 'sender', 'reply-to', 'to', 'cc', 'subject', 'date', 'message-id', 'in-reply-to', 'references'],
  ...['mime-version', 'content-type', 'content-transfer-encoding'],
]

function refuseDoubled(mail: RelayedMail): void {
  const doubled = once.find((name) => fieldsNamed(mail, name).length > 1)
  if (doubled) throw refuse(doubled, `The message has more than one ${doubled} header.`)
}

const mostHops = 50
const mostOwnHops = 4

function refuseLoop(mail: RelayedMail): void {
  const hops = fieldsNamed(mail, 'received')
  const own = hops.filter(({ text }) => text.includes('(Posthorn)'))
  if (hops.length <= mostHops && own.length <= mostOwnHops) return
  throw refuse('received', 'The message has passed through too many servers; it seems to go in a loop.')
}

// To send the bare message in place of the template that was asked for would be worse than to refuse it.
function refuseTemplate(mail: RelayedMail): void {
  if (valueIn(mail, 'x-sib-api', 'x-mailin-template') === undefined) return
  throw refuse('X-SIB-API', 'Templates cannot be sent through the relay; use the HTTP interface.')
}

/** The compatible provider's word for a trial: all is checked, and nothing is kept or sent. */
export const isForNobody = (mail: RelayedMail): boolean =>
  valueIn(mail, 'x-sib-sandbox')?.toLowerCase() === 'drop'

function readFrom(mail: RelayedMail): Address {
  const given = valueIn(mail, 'from')
  if (!given) throw refuse('from', 'The message has no From header.')
  const read = readMailbox(given)
  if ('fault' in read) throw refuse('from', `The From header ${read.fault}.`)
  const name = readable(read.name ?? '', longestName)
  return name === '' ? { email: read.email } : { email: read.email, name }
}

// The old form a@b (Name); everything else in brackets is left to fail as an address.
const readMailbox = (given: string) =>
  readAddress(given.replace(/^([^\s<>"]+) +\(([^()\\]*)\)$/, '"$2" <$1>'))

const otherSenders = ['sender', 'resent-from', 'resent-sender']

/** Who else is named as a sender, for those who may not name just anybody; what cannot be read might be anybody. */
export function readOtherSenders(mail: RelayedMail): string[] {
  const given = otherSenders.flatMap((name) => fieldsNamed(mail, name))
  return given.flatMap((field) => {
    const value = valueIn({ fields: [field] }, field.name)
    if (!value) return []
    const read = readMailbox(value)
    if ('fault' in read) throw refuse(field.name, `The ${field.name} header ${read.fault}.`)
    return [read.email]
  })
}

/** Decoded for people to read; what was encoded may be anything, also what no database takes. */
function readable(text: string, longest: number): string {
  const plain = decodeWords(text).toWellFormed()
  return plain
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, longest)
    .toWellFormed()
}

const ownTag = /^[A-Za-z0-9_.-]{1,64}$/
const foreignTag = 'X-Mailin-Tag'
const longestForeignTag = 64

/** The compatible provider takes any short text as a tag; ours are as strict as over HTTP. */
function readTag(mail: RelayedMail): string | undefined {
  const given = firstOf(mail, tagHeaders)
  if (!given) return undefined
  const { name, value } = given
  if (name === foreignTag) return readForeignTag(value)
  if (!ownTag.test(value)) throw refuse(name, `${name} must have up to 64 characters of A-Za-z0-9_.-`)
  return value
}

function readForeignTag(value: string): string | undefined {
  const tag = readable(value, longestForeignTag + 1)
  if (tag.length > longestForeignTag)
    throw refuse(foreignTag, `${foreignTag} must have up to ${longestForeignTag} characters.`)
  return tag || undefined
}

/** Tracking is on unless the message says otherwise; the account's settings come on top. */
function isSwitchedOff(mail: RelayedMail, name: string): boolean {
  const said = valueIn(mail, name.toLowerCase())?.toLowerCase()
  if (said !== undefined && said !== 'true' && said !== 'false')
    throw refuse(name, `${name} must be true or false.`)
  return said === 'false'
}

const customHeader = 'X-Mailin-custom'
const longestCustom = metadataLimits.inAll

function readMetadata(mail: RelayedMail): Record<string, string> | undefined {
  const own = readOwnMetadata(mail)
  const custom = readable(valueIn(mail, customHeader.toLowerCase()) ?? '', longestCustom + 1)
  if (custom === '') return own
  if (custom.length > longestCustom)
    throw refuse(customHeader, `${customHeader} must have up to ${longestCustom} characters.`)
  return { ...own, [customHeader]: custom }
}

/** As strict as over HTTP. */
function readOwnMetadata(mail: RelayedMail): Record<string, string> | undefined {
  const given = firstOf(mail, metadataHeaders)
  if (!given) return undefined
  const metadata = parsed(readable(given.value, given.value.length))
  if (isMetadata(metadata)) return metadata
  const { name, value, inAll } = metadataLimits
  const limits = `names of up to ${name} and texts of up to ${value} characters, ${inAll} in all`
  throw refuse(given.name, `${given.name} must be a JSON object with ${limits}, like {"order":"7"}.`)
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

function isMetadata(value: unknown): value is Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const isInBounds = Object.entries(value).every(
    ([name, text]) =>
      name.length <= metadataLimits.name && typeof text === 'string' && text.length <= metadataLimits.value,
  )
  return isInBounds && metadataLength(value as Record<string, string>) <= metadataLimits.inAll
}
