// A message of a mailbox on its way into the records.
import { hash } from 'node:crypto'
import { textFromHtml } from '../../messages/mime/text-from-html.ts'
import type { NewReply } from '../inbox/reply-queries.ts'
import type { IncomingMail } from '../reading/parse-mail.ts'
import type { Match } from './match-thread.ts'

export type Incoming = {
  accountId: string
  mailboxId: string
  mailboxEmail: string
  mail: IncomingMail
  /** Its owner put it away before its text was read: it may be found whole in another folder. */
  isHeaderOnly?: true
  receivedAt: Date
  at: Date
}

type Empty = 'kind' | 'classification' | 'confidence' | 'reason'

/** All of it but what it is taken for. */
export function replyOf(
  incoming: Incoming,
  match: Pick<Match, 'sequenceId' | 'prospectId'>,
): Omit<NewReply, Empty> {
  const { accountId, mailboxId, mail, isHeaderOnly, receivedAt, at } = incoming
  return {
    accountId,
    mailboxId,
    sequenceId: match.sequenceId,
    prospectId: match.prospectId,
    fingerprint: isHeaderOnly
      ? hash('sha256', `header ${fingerprintOf(mail).toString('hex')}`, 'buffer')
      : fingerprintOf(mail),
    messageId: mail.messageId,
    refs: [...new Set([...mail.references, ...mail.inReplyTo])],
    sender: mail.from ?? '',
    senderName: mail.fromName,
    subject: mail.subject,
    text: mail.text.trim() ? mail.text : textFromHtml(mail.html ?? ''),
    html: mail.html,
    receivedAt,
    at,
  }
}

/** The same in every folder; where there is no identifier, by what it says. */
export function fingerprintOf({ messageId, headers, from, subject, text, parts }: IncomingMail): Buffer {
  const said = [headers.get('date'), from, subject, text, ...parts.map(({ content }) => content)]
  const named = messageId ?? JSON.stringify(said)
  return hash('sha256', named, 'buffer')
}
