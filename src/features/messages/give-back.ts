// What stayed here after all counts against nobody's cap or quota.
import type { Db } from '../../kernel/db.ts'
import { unspend } from '../accounts/usage/spend-sending.ts'
import { listSpent } from './give-back-queries.ts'

/**
 * To be called before their states are written, so that each is given back once; `others` are those that the
 * transaction goes on with. What it gives is to be called last: others wait for the counters until the commit. A
 * campaign counts its messages together, and gives back what it cancels.
 */
export async function owed(db: Db, ids: string[], others: string[]): Promise<() => Promise<void>> {
  const spent = ids.length > 0 ? await listSpent(db, ids, others) : []
  return async () => {
    for (const { account_id: accountId, key_id: keyId, accepted_on, count } of spent)
      await unspend(db, { accountId, keyId }, count, accepted_on)
  }
}
