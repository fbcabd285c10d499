// The Scaleway interface takes no finished message, so one is taken apart for it. What would not come out the same
// is left to SMTP.
import { type Address, type Attachment, addressParser, type Email } from 'postal-mime'
import { openParsers } from '../../kernel/parse-apart.ts'
import type { Handover } from '../../kernel/ports.ts'

type ApiAddress = { email: string; name?: string }

export type ApiEmail = {
  from: ApiAddress
  to: ApiAddress[]
  subject: string
  text?: string
  html?: string
  project_id: string
  attachments: { name: string; type: string; content: string }[]
  additional_headers: { key: string; value: string }[]
}

/** Either the body of the request or, for people, why there is none. */
export type TakenApart = { body: string } | { why: string }

// https://www.scaleway.com/en/docs/transactional-email/reference-content/tem-capabilities-and-limits/
const largest = 2_000_000
const mostAttachments = 10
// The documentation says so of the subject; users report it of the bodies too.
const shortest = 10

export const refHeader = 'X-Posthorn-Message'

// Made by Scaleway. The message loses its own Message-ID and Date here.
const replaced =
  /^(from|to|subject|date|message-id|mime-version|content-.*|return-path|received|dkim-signature)$/

const parseApart = openParsers()

export async function takeApart(handover: Handover, projectId: string): Promise<TakenApart> {
  const { raw, recipient } = handover
  if (raw.length > largest) return { why: 'it is larger than 2 MB' }
  const options = { attachmentEncoding: 'base64', forceRfc822Attachments: true } as const
  const email = await parseApart(raw, options)
  if (email === undefined) return { why: 'it cannot be read' }
  const why = whyNot(email, recipient) ?? whyNotParts(email, raw.toString('latin1'))
  if (why !== null) return { why }
  const body = JSON.stringify(compose(email, handover, projectId))
  return Buffer.byteLength(body) > largest ? { why: 'it is larger than 2 MB' } : { body }
}

function whyNot(email: Email, recipient: string): string | null {
  const [to, ...others] = email.to ?? []
  const from = email.headers.filter(({ key }) => key === 'from').flatMap(({ value }) => addressParser(value))
  if (from.length !== 1 || !email.from?.address || email.sender) return 'its sender is not one plain address'
  if (others.length > 0 || email.cc !== undefined || email.bcc !== undefined)
    return 'it shows several recipients'
  if (to?.address?.toLowerCase() !== recipient.toLowerCase()) return 'it shows another recipient'
  if ([...(email.subject ?? '')].length < shortest) return `its subject has less than ${shortest} characters`
  const odd = email.headers.find(({ key, value }) => !replaced.test(key) && !/^[\t\x20-\x7e]*$/.test(value))
  return odd === undefined ? null : `its header ${odd.originalKey} is not plain text`
}

function whyNotParts(email: Email, raw: string): string | null {
  const { text, html, attachments } = email
  const bodies = [text, html].filter((body) => body !== undefined)
  if (bodies.length === 0) return 'it has no text'
  if (bodies.some((body) => body.trim().length < shortest))
    return `a text has less than ${shortest} characters`
  if (/^content-type:\s*multipart\/(signed|encrypted|report)/im.test(raw))
    return 'its structure has a meaning'
  // The parser joins texts that follow each other; as two parts they looked different.
  const several = ['plain', 'html'].some((kind) => {
    const all = raw.match(new RegExp(`^content-type:\\s*text/${kind}`, 'gim'))?.length ?? 0
    return all - attachments.filter(({ mimeType }) => mimeType === `text/${kind}`).length > 1
  })
  if (several) return 'it has several texts of one kind'
  if (attachments.length > mostAttachments) return `it has more than ${mostAttachments} attachments`
  return attachments.every((each) => isPlain(each, html ?? ''))
    ? null
    : 'it has parts that are not plain attachments'
}

/** A file to keep, not a picture inside the text, another form of the text, or an invitation. */
function isPlain({ filename, disposition, contentId, method }: Attachment, html: string): boolean {
  const shown = contentId !== undefined && html.includes(`cid:${contentId.replace(/^<|>$/g, '')}`)
  return filename !== null && disposition === 'attachment' && method === undefined && !shown
}

function compose(email: Email, handover: Handover, projectId: string): ApiEmail {
  return {
    from: addressOf(email.from),
    to: [addressOf(email.to?.[0])],
    subject: email.subject ?? '',
    text: email.text,
    html: email.html,
    project_id: projectId,
    attachments: email.attachments.map(({ filename, mimeType, content }) => ({
      name: filename ?? '',
      type: mimeType,
      content: String(content),
    })),
    additional_headers: [
      ...email.headers
        .filter(({ key }) => !replaced.test(key) && key !== refHeader.toLowerCase())
        .map(({ originalKey, value }) => ({ key: originalKey, value })),
      ...(isRef(handover.id) ? [{ key: refHeader, value: handover.id }] : []),
    ],
  }
}

function addressOf(address: Address | undefined): ApiAddress {
  const { address: email = '', name = '' } = address ?? {}
  return name === '' ? { email } : { email, name }
}

const isRef = (id: string) => /^[\w.:-]{1,200}$/.test(id)

/** The same reference for the way by SMTP, since Scaleway's events give the headers back. */
export function withRef({ id, raw }: Handover): Buffer {
  return isRef(id) ? Buffer.concat([Buffer.from(`${refHeader}: ${id}\r\n`), raw]) : raw
}
