// The last line of defence: what got past the checks of the API is a bug, and is not sent.
import type { Mail, MailAttachment } from './compose.ts'
import type { MailAddress } from './fields.ts'
import {
  hasControl,
  isContentId,
  isContentType,
  isHeaderName,
  isMessageId,
  isWireAddress,
  isWritable,
  repeatedHeaders,
} from './safe.ts'

// What composeMail writes itself, or must never write.
const ownHeaders = /^(from|to|cc|bcc|reply-to|subject|date|message-id|mime-version|content-.*)$/i

function insist(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(`A message was not composed: ${what}.`)
}

/** Throws when the message cannot be written without changing its meaning. */
export function refuseUnsafe(mail: Mail): void {
  insist(!hasControl(mail.subject), 'the subject contains a control character')
  insist(isMessageId(mail.messageId), 'its Message-ID is malformed')
  insist(!Number.isNaN(mail.date.getTime()), 'its date is none')
  refuseAddress(mail.from)
  for (const list of [mail.to, mail.cc, mail.replyTo]) list?.forEach(refuseAddress)
  refuseHeaders(mail.headers)
  mail.attachments.forEach(refuseAttachment)
}

function refuseAddress({ email, name }: MailAddress): void {
  insist(isWireAddress(email), 'an address is malformed')
  insist(name === undefined || !hasControl(name), 'a display name contains a control character')
}

function refuseHeaders(headers: Mail['headers']): void {
  const [repeated] = repeatedHeaders(headers.map(([name]) => name))
  insist(repeated === undefined, `the header ${repeated} occurs twice`)
  for (const [name, value] of headers) {
    insist(isHeaderName(name), 'a header name is malformed')
    insist(!ownHeaders.test(name), `the header ${name} is not an extra header`)
    insist(!hasControl(value), `the header ${name} contains a control character`)
    insist(isWritable(name, value), `the header ${name} contains other than ASCII characters`)
  }
}

function refuseAttachment({ filename, contentType, contentId }: MailAttachment): void {
  insist(!hasControl(filename), 'a filename contains a control character')
  insist(isContentType(contentType), 'a content type is malformed')
  insist(contentId === undefined || isContentId(contentId), 'a content id is malformed')
}
