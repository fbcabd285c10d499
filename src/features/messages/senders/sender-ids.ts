import type { Ctx } from '../../../kernel/ctx.ts'
import { findSenderIds } from './queries.ts'

/** The number of the account's sender with this address; 0 when it has none. */
export type SenderIds = (email: string) => number

export async function senderIdsOf({ db, caller }: Ctx, emails: string[]): Promise<SenderIds> {
  const asked = [...new Set(emails.map((email) => email.toLowerCase()))]
  const rows = asked.length > 0 ? await findSenderIds(db, caller.accountId, asked) : []
  const ids = new Map(rows.map(({ email, id }) => [email, Number(id)]))
  return (email) => ids.get(email.toLowerCase()) ?? 0
}
