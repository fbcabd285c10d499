// The message as it is sent on: the body byte for byte, in the header only what has to change (RFC 6409 §8).
import { dateField } from '../mime/fields.ts'
import { idempotencyHeaders, metadataHeaders, type RelayedMail, tagHeaders, valueIn } from './mail.ts'

export type Hop = {
  /** Our name, in the Received line. */
  by: string
  requestId: string
  now: Date
  messageId: string
}

// Blind copies stay blind; the others are meant for us, or steer the upstream, which only we may.
const dropped = new Set([
  ...['bcc', 'resent-bcc', 'return-path', 'sender.ip', ...idempotencyHeaders],
  ...[...tagHeaders, ...metadataHeaders].map((name) => name.toLowerCase()),
])
const droppedPrefixes = ['x-posthorn-', 'x-mailin-', 'x-sib-', 'x-ses-']

// As much of RFC 5322 §3.3 as every reader needs: a message with any other date is taken for spam.
const dateForm =
  /(?:^|[\s,])\d{1,2}\s+(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\s+\d{2,4}\s+\d{1,2}\s*:\s*\d{2}/i

export function rewriteMail(mail: RelayedMail, hop: Hop): Buffer {
  const isDated = dateForm.test(valueIn(mail, 'date') ?? '')
  const isIdentified = valueIn(mail, 'message-id') === hop.messageId
  const kept = mail.fields.filter(
    ({ name }) => !isDropped(name) && (name !== 'date' || isDated) && (name !== 'message-id' || isIdentified),
  )
  const isMime = valueIn(mail, 'mime-version') !== undefined || mail.body.length === 0
  const head = [
    receivedField(hop),
    ...kept.map(({ text }) => `${text}\r\n`),
    isDated ? '' : dateField(hop.now),
    isIdentified ? '' : `Message-ID: ${hop.messageId}\r\n`,
    isMime ? '' : 'MIME-Version: 1.0\r\n',
    '\r\n',
  ]
  return Buffer.concat([Buffer.from(head.join(''), 'latin1'), mail.body])
}

function isDropped(name: string): boolean {
  return dropped.has(name) || droppedPrefixes.some((prefix) => name.startsWith(prefix))
}

// Without the client's address: where in a customer's network a message was made is no business of its reader.
// ESMTPSA (RFC 3848): nobody logs in here, and so sends, but over TLS.
function receivedField({ by, requestId, now }: Hop): string {
  const date = dateField(now).slice('Date: '.length)
  return `Received: by ${by}\r\n (Posthorn) with ESMTPSA id ${requestId};\r\n ${date}`
}
