// RCPT: what can be said about one recipient before the message is there.
import type { Caller } from '../../../kernel/ctx.ts'
import type { Db } from '../../../kernel/db.ts'
import { readEmail } from '../../../kernel/email-address.ts'
import type { Refusal } from '../../../kernel/refusal.ts'
import { listSpent } from '../../accounts/usage/spend-sending.ts'
import { findSuppressed } from '../../suppressions/queries.ts'
import { suppressedRefusal } from '../queue-messages.ts'
import { recipientInvalid } from '../refusals.ts'

export async function checkRecipient(db: Db, caller: Caller, address: string, now: Date): Promise<void> {
  const email = readEmail(address)?.toLowerCase()
  if (email === undefined) throw recipientInvalid()
  const refusal = await db.gathered(refusalsOf, { caller, accountId: caller.accountId, email, now })
  if (refusal) throw refusal
}

type Asked = { caller: Caller; accountId: string; email: string; now: Date }

/** Cap and quota are counted when the message is accepted; who has used them up need not send it first. */
async function refusalsOf(db: Db, asked: Asked[]): Promise<(Refusal | undefined)[]> {
  const [found, spent] = await Promise.all([findSuppressed(db, asked), listSpent(db, asked)])
  const reasons = new Map(found.map((one) => [`${one.account_id} ${one.email}`, one.reason]))
  return asked.map(({ accountId, email }, at) => {
    const reason = reasons.get(`${accountId} ${email}`)
    return reason === undefined ? spent[at] : suppressedRefusal(email, reason)
  })
}
