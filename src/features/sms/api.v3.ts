import { Type } from 'typebox'
import { operation } from '../../kernel/operation.ts'
import { idempotencyInProgress, idempotencyKeyReused } from '../../kernel/refusals.ts'
import { closed } from '../../kernel/schema.ts'
import { dailyCapReached, monthlyQuotaReached } from '../accounts/usage/refusals.ts'
import { recipientSuppressed } from '../messages/refusals.ts'
import { idempotencyKeyIn } from '../transactional/v3/headers.ts'
import { smsWindowClosed } from './refusals.ts'
import { SendBody, secretFields } from './send-request.ts'
import { type SmsNeeds, sendSms } from './send-sms.ts'

const shared = {
  area: 'Transactional',
  scope: 'email.send',
  effect: 'irreversible',
  perMinute: 300,
  body: SendBody,
  secret: secretFields,
  refusals: [
    smsWindowClosed,
    recipientSuppressed,
    dailyCapReached,
    monthlyQuotaReached,
    idempotencyInProgress,
    idempotencyKeyReused,
  ],
  keyInInput: {
    of: ({ body }: { body: SendBody }) => idempotencyKeyIn(body.headers),
    rememberMs: 30 * 60_000,
  },
} as const

const description =
  'Marketing SMS are refused outside 08:00 to 20:00 Paris time, on Sundays and on French public holidays; a mention ' +
  'of how to stop them is added where it is missing. Each SMS that a text is long counts as one message. ' +
  'An idempotencyKey in headers replays the first answer for 30 minutes.'

export const sendTransacSms = (needs: SmsNeeds) =>
  operation({
    ...shared,
    refusals: [...shared.refusals],
    name: 'sms.send',
    http: 'POST /v3/transactionalSMS/sms',
    needs: ['sender', 'recipient', 'content'],
    summary: 'Send an SMS',
    description,
    status: 201,
    reply: closed({
      reference: Type.String(),
      messageId: Type.Integer(),
      smsCount: Type.Integer({ description: 'How many SMS the text is long, the mention of STOP included' }),
      usedCredits: Type.Number(),
      remainingCredits: Type.Number({ description: 'Of the cap of the key or the quota of the account' }),
    }),
  }).run((ctx, { body }) => sendSms(needs, ctx, body))

export const sendAsyncTransacSms = (needs: SmsNeeds) =>
  operation({
    ...shared,
    refusals: [...shared.refusals],
    name: 'sms.send_async',
    http: 'POST /v3/transactionalSMS/send',
    needs: ['sender', 'recipient', 'content'],
    summary: 'Send an SMS, with a shorter answer',
    description,
    status: 201,
    reply: closed({ messageId: Type.Integer() }),
  }).run(async (ctx, { body }) => {
    const { messageId } = await sendSms(needs, ctx, body)
    return { messageId }
  })
