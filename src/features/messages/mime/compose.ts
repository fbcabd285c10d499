// A message as it goes over the wire: RFC 5322 and MIME, pure ASCII, CRLF.
import { addressField, dateField, type MailAddress, plainField, textField } from './fields.ts'
import { partOf } from './parts.ts'
import { refuseUnsafe } from './refuse.ts'
import type { Encoded } from './transfer.ts'

export type { MailAddress } from './fields.ts'

/** `contentId` makes it an inline image of the HTML. */
export type MailAttachment = { filename: string; contentType: string; content: Buffer; contentId?: string }

export type Mail = {
  from: MailAddress
  to: MailAddress[]
  cc?: MailAddress[]
  replyTo?: MailAddress[]
  subject: string
  html?: string | Encoded
  text?: string | Encoded
  /** Extra headers, already permitted by the caller. */
  headers: [name: string, value: string][]
  attachments: MailAttachment[]
  /** With its angle brackets. */
  messageId: string
  date: Date
}

/** The same message gives the same octets. Throws when a value does not fit a header: see safe.ts. */
export function composeMail(mail: Mail): Buffer {
  refuseUnsafe(mail)
  const { head, body } = partOf(mail)
  // A message that ends in the middle of a line gets its line end.
  const end = body.endsWith('\r\n') ? '' : '\r\n'
  return Buffer.from(`${headOf(mail)}MIME-Version: 1.0\r\n${head}\r\n${body}${end}`, 'latin1')
}

function headOf(mail: Mail): string {
  let head = addressField('From', [mail.from])
  head += addresses('To', mail.to) + addresses('Cc', mail.cc) + addresses('Reply-To', mail.replyTo)
  head += textField('Subject', mail.subject) + dateField(mail.date)
  // Never folded, RFC 5322 §3.6.4.
  head += `Message-ID: ${mail.messageId}\r\n`
  for (const [name, value] of mail.headers) head += plainField(name, value)
  return head
}

const addresses = (name: string, list: MailAddress[] | undefined) =>
  list && list.length > 0 ? addressField(name, list) : ''
