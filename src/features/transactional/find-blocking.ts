// All that a send would refuse, found without sending: the same steps, none of them stopping the others.

import { checkMaker, isLookedAtWhole } from '../../kernel/check.ts'
import { collector } from '../../kernel/collect.ts'
import type { Ctx } from '../../kernel/ctx.ts'
import { type Address, domainOf } from '../../kernel/email-address.ts'
import { faultsOf, faultyFields, withoutFields } from '../../kernel/faults.ts'
import type { Refusal } from '../../kernel/refusal.ts'
import { invalidParameter, missingParameter } from '../../kernel/refusals.ts'
import { readUsage } from '../accounts/usage/read-usage.ts'
import { dailyCapReached, monthlyQuotaReached } from '../accounts/usage/refusals.ts'
import { refuseForeignSender } from '../accounts/usage/spend-sending.ts'
import { suppressedRefusal } from '../messages/queue-messages.ts'
import { refuseUnverified } from '../messages/senders/verified-sender.ts'
import { findSuppressed } from '../suppressions/queries.ts'
import { type AttachedFiles, fetchFilesOfOne } from './attached-file.ts'
import { type ReadSend, readSend } from './prepare-send.ts'
import { type SendDraft, SendRequest } from './send-request.ts'
import type { FetchAttachment } from './v3/attachments.ts'

export type Looked = Omit<ReadSend, 'refusals'> & {
  blocking: Refusal[]
  /** Without the fields that have a fault. */
  body: SendDraft
  /** Of the template. */
  files: AttachedFiles
}

const unread: ReadSend = {
  refusals: [],
  recipient: undefined,
  template: undefined,
  from: undefined,
  replyTo: undefined,
  rendered: undefined,
}

export async function findBlocking(ctx: Ctx, fetch: FetchAttachment, body: SendDraft): Promise<Looked> {
  const { sound, refusals, ...read } = await readDraft(ctx, body)
  const { recipient, from, template } = read
  const { refusals: against, step } = collector()
  if (from) await step(() => refuseForeignSender(ctx.caller, domainOf(from.email)))
  if (from) await step(() => refuseUnverified(ctx.db, ctx.caller, from.email))
  if (recipient) against.push(...(await suppressionsOf(ctx, recipient, from)))
  await step(() => refuseSpent(ctx))
  const files = await step(() => fetchFilesOfOne(ctx, fetch, template && sound.template_id))
  const blocking = [...refusals, ...against]
  return { ...read, body: sound, files: files ?? new Map(), blocking }
}

/** What a body says, and all that a send would refuse of it, whomever it is for. */
export async function readDraft(
  ctx: Ctx,
  body: SendDraft,
  known: ReadonlySet<string> = new Set(),
): Promise<ReadSend & { sound: SendDraft }> {
  const schema = schemaRefusals(body)
  const isKnown = schema.refusals.length === 0 || isLookedAtWhole(body)
  const faulty = new Set([...known, ...schema.faulty])
  const sound = isKnown ? withoutFields(body, faulty) : {}
  const read = isKnown ? await readSend(ctx, sound, faulty) : unread
  return { ...read, sound, refusals: [...schema.refusals, ...read.refusals] }
}

let check: ReturnType<ReturnType<typeof checkMaker>> | undefined

/** What its schema says against a body, as refusals, and the names of the fields concerned. */
function schemaRefusals(body: SendDraft): { refusals: Refusal[]; faulty: Set<string> } {
  // Compiled when first needed.
  check ??= checkMaker({})(SendRequest)
  const errors = check(body)
  const refusals = faultsOf(errors).map(({ code, message, param }) =>
    (code === 'missing_parameter' ? missingParameter : invalidParameter)({ message, param }),
  )
  return { refusals, faulty: faultyFields(errors) }
}

/** A send tells of one; each has to be lifted by itself. */
async function suppressionsOf(ctx: Ctx, recipient: Address, from: Address | undefined): Promise<Refusal[]> {
  const [email, sender] = [recipient.email.toLowerCase(), from?.email.toLowerCase()]
  const found = await findSuppressed(ctx.db, [{ accountId: ctx.caller.accountId, email, sender }])
  return found.map(({ reason }) => suppressedRefusal(email, reason))
}

async function refuseSpent(ctx: Ctx): Promise<void> {
  const { month, key } = await readUsage(ctx)
  if (month.remaining === 0) throw monthlyQuotaReached()
  if (key.remaining === 0) throw dailyCapReached()
}
