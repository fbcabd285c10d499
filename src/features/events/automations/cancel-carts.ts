// A purchase ends the reminders of the carts that its buyer left.
import type { Db } from '../../../kernel/db.ts'
import { normalEmail } from '../../../kernel/email-address.ts'
import { type Buyer, stopCarts } from './run-queries.ts'

/** Gives how many runs it ended. Steps that are queued already are not taken back. */
export async function cancelCarts(db: Db, buyer: Buyer) {
  const email = normalEmail(buyer.email)
  return email === undefined ? 0 : stopCarts(db, { ...buyer, email })
}
