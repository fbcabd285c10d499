// A message as it goes over the wire: RFC 5322 and MIME, pure ASCII, CRLF.
import { addressField, dateField, type MailAddress, plainField, textField } from './fields.ts'
import { closeLine, partOf } from './parts.ts'
import { refuseUnsafe } from './refuse.ts'

export type { MailAddress } from './fields.ts'

/** `contentId` makes it an inline image of the HTML. */
export type MailAttachment = { filename: string; contentType: string; content: Buffer; contentId?: string }

export type Mail = {
  from: MailAddress
  to: MailAddress[]
  cc?: MailAddress[]
  replyTo?: MailAddress[]
  subject: string
  html?: string
  text?: string
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
  const { head, body } = closeLine(partOf(mail))
  return joined([`${headOf(mail)}MIME-Version: 1.0\r\n${head}\r\n`, ...body])
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

function joined(pieces: (string | Buffer)[]): Buffer {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const out = Buffer.allocUnsafe(length)
  let at = 0
  for (const piece of pieces) {
    if (typeof piece === 'string') out.write(piece, at, 'latin1')
    else out.set(piece, at)
    at += piece.length
  }
  return out
}
