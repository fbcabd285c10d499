// RCPT: what can be said about one recipient before the message is there.
import type { Caller } from '../../../kernel/ctx.ts'
import type { Db } from '../../../kernel/db.ts'
import { readEmail } from '../../../kernel/email-address.ts'
import { findSuppressed, type SuppressionRef } from '../../suppressions/queries.ts'
import { suppressedRefusal } from '../queue-messages.ts'
import { recipientInvalid } from '../refusals.ts'

export async function checkRecipient(db: Db, { accountId }: Caller, address: string): Promise<void> {
  const email = readEmail(address)?.toLowerCase()
  if (email === undefined) throw recipientInvalid()
  const reason = await db.gathered(reasonsOf, { accountId, email })
  if (reason !== undefined) throw suppressedRefusal(email, reason)
}

async function reasonsOf(db: Db, refs: SuppressionRef[]): Promise<(string | undefined)[]> {
  const found = await findSuppressed(db, refs)
  const reasons = new Map(found.map((one) => [`${one.account_id} ${one.email}`, one.reason]))
  return refs.map(({ accountId, email }) => reasons.get(`${accountId} ${email}`))
}
