// An SMS is accepted here: refuse what may not go, count it, write it.
import type { Ctx } from '../../kernel/ctx.ts'
import { newUuid, showId } from '../../kernel/id.ts'
import { invalidParameter } from '../../kernel/refusals.ts'
import { unlimitedCredits } from '../accounts/account/api.v3.ts'
import { readUsage } from '../accounts/usage/read-usage.ts'
import { spendSending } from '../accounts/usage/spend-sending.ts'
import { recipientSuppressed } from '../messages/refusals.ts'
import { countParts } from './count-parts.ts'
import { findOptout, insertSms } from './queries.ts'
import { smsWindowClosed } from './refusals.ts'
import { readSend, type SendBody } from './send-request.ts'
import { type StopMention, withStop } from './stop.ts'
import { windowAt } from './window.ts'

export type SmsNeeds = { stop: StopMention }

const mostParts = 10

export async function sendSms({ stop }: SmsNeeds, ctx: Ctx, body: SendBody) {
  const asked = readSend(body)
  const isMarketing = asked.type === 'marketing'
  const { content, shown } = isMarketing
    ? withStop(asked.content, stop)
    : { content: asked.content, shown: asked.content }
  const { encoding, parts } = countParts(shown)
  if (parts > mostParts)
    throw invalidParameter({
      message: `content is ${parts} SMS long; ${mostParts} is the most`,
      param: 'content',
    })
  if (isMarketing) refuseClosed(ctx.now)
  await refuseOptedOut(ctx, asked.recipient)
  const remainingCredits = await spend(ctx, parts)
  const reference = showId('sms', newUuid())
  const { accountId, keyId, mode } = ctx.caller
  const written = { ...asked, content, encoding, parts, reference, remainingCredits }
  const { id } = await insertSms(ctx.db, { ...written, accountId, keyId, mode, at: ctx.now })
  return { reference, messageId: Number(id), smsCount: parts, usedCredits: parts, remainingCredits }
}

function refuseClosed(now: Date): void {
  const window = windowAt(now)
  if (window.isOpen) return
  const { rule, says, opens } = window
  throw smsWindowClosed({
    message: `${says}; the next opening is at ${opens.toISOString()}.`,
    param: 'type',
    retryAfterSeconds: Math.ceil((opens.getTime() - now.getTime()) / 1000),
    fields: { rule, next_allowed_at: opens.toISOString() },
  })
}

async function refuseOptedOut(ctx: Ctx, recipient: string): Promise<void> {
  const found = await findOptout(ctx.db, ctx.caller.accountId, recipient)
  if (!found) return
  throw recipientSuppressed({
    message: `The recipient wants no SMS from this account (${found.reason}).`,
    param: 'recipient',
  })
}

/** Each part counts as one message against cap and quota; gives how many are left. */
async function spend(ctx: Ctx, parts: number): Promise<number> {
  // At once and not with the commit: who spends at the same time waits, and each is told what is left after its own.
  await spendSending({ ...ctx, db: { ...ctx.db, optimistic: false } }, parts)
  const { month, key } = await readUsage(ctx)
  return Math.min(month.remaining ?? unlimitedCredits - parts, key.remaining ?? unlimitedCredits - parts)
}
