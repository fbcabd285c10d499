// All that a send would refuse, found without sending: the same steps, none of them stopping the others.

import type { Ctx } from '../../kernel/ctx.ts'
import { type Address, domainOf } from '../../kernel/email-address.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { invalidParameter } from '../../kernel/refusals.ts'
import { readUsage } from '../accounts/usage/read-usage.ts'
import { dailyCapReached, monthlyQuotaReached } from '../accounts/usage/refusals.ts'
import { refuseForeignSender } from '../accounts/usage/spend-sending.ts'
import { suppressedRefusal } from '../messages/queue-messages.ts'
import { refuseUnverified } from '../messages/senders/verified-sender.ts'
import { findSuppressed } from '../suppressions/queries.ts'
import {
  faultsOf,
  type Rendered,
  readRecipient,
  renderContent,
  senderOf,
  usedTemplate,
} from './prepare-send.ts'
import type { SendRequest } from './send-request.ts'
import type { UsedTemplate } from './template-queries.ts'

export type Looked = {
  blocking: Refusal[]
  recipient: Address | undefined
  from: Address | undefined
  template: UsedTemplate | undefined
  rendered: Rendered | undefined
}

export async function findBlocking(ctx: Ctx, body: SendRequest): Promise<Looked> {
  const blocking: Refusal[] = faultsOf(ctx, body).map(({ message, param }) =>
    invalidParameter({ message, param }),
  )
  async function step<T>(work: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      blocking.push(error)
      return undefined
    }
  }
  const recipient = await step(() => readRecipient(body.to))
  const template = await step(() => usedTemplate(ctx, body))
  const from = await step(() => senderOf(ctx, body, template))
  // A template that cannot be used has been reported; its content cannot be judged.
  const isTemplateLost = body.template_id !== undefined && template === undefined
  const rendered = isTemplateLost
    ? undefined
    : await step(() => renderContent(ctx, body, template, recipient))
  if (from) await step(() => refuseForeignSender(ctx.caller, domainOf(from.email)))
  if (from) await step(() => refuseUnverified(ctx.db, ctx.caller, from.email))
  if (recipient) await step(() => refuseSuppressed(ctx, recipient, from))
  await step(() => refuseSpent(ctx))
  return { blocking, recipient, from, template, rendered }
}

async function refuseSuppressed(ctx: Ctx, recipient: Address, from: Address | undefined): Promise<void> {
  const [email, sender] = [recipient.email.toLowerCase(), from?.email.toLowerCase()]
  const [hit] = await findSuppressed(ctx.db, [{ accountId: ctx.caller.accountId, email, sender }])
  if (hit) throw suppressedRefusal(email, hit.reason)
}

async function refuseSpent(ctx: Ctx): Promise<void> {
  const { month, key } = await readUsage(ctx)
  if (month.remaining === 0) throw monthlyQuotaReached()
  if (key.remaining === 0) throw dailyCapReached()
}
