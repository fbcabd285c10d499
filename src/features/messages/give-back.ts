// What stayed here after all counts against nobody's cap or quota.
import type { Db } from '../../kernel/db.ts'
import { unspend } from '../accounts/usage/spend-sending.ts'
import { listSpent } from './give-back-queries.ts'

/**
 * To be called before their states are written, so that each is given back once; `others` are those that the
 * transaction goes on with. A campaign counts its messages together, and gives back what it cancels.
 */
export async function giveBack(db: Db, ids: string[], others: string[]): Promise<void> {
  if (ids.length === 0) return
  for (const one of await listSpent(db, ids, others)) {
    const { account_id: accountId, key_id: keyId, accepted_on, count } = one
    await unspend(db, { accountId, keyId }, count, accepted_on)
  }
}
