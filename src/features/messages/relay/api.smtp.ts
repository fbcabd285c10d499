// The act behind the relay. It stands in no list of routes: the relay calls it through the same gates.
import { Type } from 'typebox'
import { showId } from '../../../kernel/id.ts'
import { operation } from '../../../kernel/operation.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import { closed, words } from '../../../kernel/schema.ts'
import {
  dailyCapReached,
  monthlyQuotaReached,
  senderDomainNotAllowed,
  senderUnverified,
} from '../../accounts/usage/refusals.ts'
import { recipientInvalid, recipientSuppressed } from '../refusals.ts'
import type { RelayedMail } from './mail.ts'
import { submitMails } from './submit-mails.ts'

const Submission = closed({
  /** Empty for the null sender. */
  envelope_from: Type.String({ maxLength: 320 }),
  recipients: Type.Array(Type.String({ maxLength: 320 }), { minItems: 1 }),
  mail: Type.Unsafe<RelayedMail>({}),
})

const Submitted = closed({
  message_id: Type.String(),
  messages: Type.Array(
    closed({ id: Type.String(), to: Type.String(), status: words(['queued', 'suppressed']) }),
  ),
})

export type Submitted = { message_id: string; messages: { id: string; to: string; status: string }[] }

/** The word that the relay's limit is set by. */
export const relayTurns = 'smtp.send'

/** `by` is our name in the Received line. */
export const submitOverSmtp = (by: string) =>
  operation({
    name: 'email.send',
    http: 'POST /smtp',
    area: 'Transactional',
    summary: 'Queue a message that came over SMTP',
    scope: 'smtp.send',
    effect: 'irreversible',
    // No more than a guard against a client gone wild: the daily cap of the key is the relay's limit.
    perMinute: 60_000,
    // Sends over HTTP share the act's name and have a limit a thousand times lower.
    countedAs: relayTurns,
    idempotent: true,
    body: Submission,
    weigh: ({ body: { mail, recipients } }) => mail.body.length * recipients.length,
    secret: ['mail'],
    status: 202,
    reply: Submitted,
    refusals: [
      recipientInvalid,
      recipientSuppressed,
      senderDomainNotAllowed,
      senderUnverified,
      dailyCapReached,
      monthlyQuotaReached,
    ],
  }).runTogether(async (db, calls) => {
    const submissions = calls.map(({ ctx, input: { body } }) => ({
      ctx,
      envelopeFrom: body.envelope_from,
      recipients: body.recipients,
      mail: body.mail,
    }))
    const results = await submitMails(db, submissions, by)
    return results.map((result) => {
      if (result instanceof Refusal) return result
      const messages = result.map(({ id, status, outgoing }) => ({
        id: showId('msg', id),
        to: outgoing.recipient.email,
        status,
      }))
      return { message_id: result[0]?.outgoing.messageId ?? '', messages }
    })
  })
