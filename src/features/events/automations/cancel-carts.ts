// A purchase ends the reminders of the carts that its buyer left.
import type { Db } from '../../../kernel/db.ts'
import { stopCarts } from './run-queries.ts'

/** Gives how many runs it ended. Steps that are queued already are not taken back. */
export function cancelCarts(db: Db, buyer: { accountId: string; email: string; at: Date }): Promise<number> {
  return stopCarts(db, buyer)
}
