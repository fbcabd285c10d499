// A message as it came, taken apart. A stranger wrote all of it: sizes are bounded, nothing is believed.
import type { Address, Attachment } from 'postal-mime'
import { normalEmail } from '../../../kernel/email-address.ts'
import { openParsers } from '../../../kernel/parse-apart.ts'
import { oneLine, storable } from '../../../kernel/v3/lenient.ts'

export type Part = { type: string; content: string }

export type IncomingMail = {
  /** In the form that addresses are compared by; null when there is none. */
  from: string | null
  fromName: string
  subject: string
  messageId: string | null
  inReplyTo: string[]
  references: string[]
  /** By their lower-case names; of several the first. */
  headers: Map<string, string>
  text: string
  html: string | null
  /** Reports and returned messages. */
  parts: Part[]
}

const longest = { text: 200_000, html: 500_000, part: 100_000, subject: 1_000, name: 200, ids: 100 }
const limits = { maxNestingDepth: 32, maxHeadersSize: 512 * 1024, forceRfc822Attachments: true }

const parseApart = openParsers()

/** Undefined when it cannot be read at all, or takes too long. */
export async function parseMail(raw: Buffer): Promise<IncomingMail | undefined> {
  const mail = await parseApart(raw, limits)
  if (!mail) return undefined
  const headers = new Map<string, string>()
  for (const { key, value } of mail.headers) if (!headers.has(key)) headers.set(key, oneLine(value))
  const from = firstOf(mail.from)
  return {
    from: normalEmail(from?.address ?? '') ?? addressIn(headers.get('from') ?? ''),
    fromName: oneLine(storable(from?.name ?? '')).slice(0, longest.name),
    subject: oneLine(storable(mail.subject ?? '')).slice(0, longest.subject),
    messageId: readIds(headers.get('message-id'))[0] ?? null,
    inReplyTo: readIds(headers.get('in-reply-to')),
    references: readIds(headers.get('references')),
    headers,
    text: storable(mail.text ?? '').slice(0, longest.text),
    html: mail.html ? storable(mail.html).slice(0, longest.html) : null,
    parts: mail.attachments.filter(isAboutMail).map(partOf),
  }
}

/** Message identifiers with their angle brackets, in their order. */
export function readIds(value: string | undefined): string[] {
  const found = (value ?? '').slice(0, 50_000).match(/<[^<>\s]{1,990}>/g) ?? []
  return [...new Set(found)].slice(-longest.ids).map(storable)
}

const firstOf = (address: Address | undefined) => (address?.group ? address.group[0] : address)

// Names with commas and without quotes, addresses with a word before them: what programs write and parsers give up.
function addressIn(field: string): string | null {
  const [found] = field.slice(0, longest.subject).match(/[^\s<>()[\]",;:']+@[^\s<>()[\]",;:']+/) ?? []
  return (found && normalEmail(found)) ?? null
}

const isAboutMail = ({ mimeType }: Attachment) => /^(message\/|text\/rfc822-headers)/.test(mimeType)

function partOf({ mimeType, content }: Attachment): Part {
  const bytes = typeof content === 'string' ? Buffer.from(content) : Buffer.from(content as ArrayBuffer)
  return { type: mimeType, content: storable(bytes.subarray(0, longest.part).toString('latin1')) }
}
