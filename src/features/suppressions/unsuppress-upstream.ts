// Takes addresses off the upstream's own list after an account took them off ours.
import type { Db } from '../../kernel/db.ts'
import type { Log } from '../../kernel/log.ts'
import type { Transport } from '../../kernel/ports.ts'
import { type ClaimedUnsuppression, claimUnsuppression, deleteUnsuppression } from './upstream-queries.ts'

export type UnsuppressNeeds = { db: Db; log: Log; transport: Pick<Transport, 'unsuppress'> }

// Upstreams allow about one such call in a second.
const mostInTurn = 20
const leaseSeconds = 300
const mostAttempts = 12

/**
 * Not to be called inside a transaction: it talks to the upstream. One by one: whether an address is still wanted there
 * is asked just before.
 */
export async function unsuppressUpstream(needs: UnsuppressNeeds, stopping?: AbortSignal): Promise<void> {
  for (let i = 0; i < mostInTurn && !stopping?.aborted; i++) {
    const claimed = await claimUnsuppression(needs.db, leaseSeconds)
    if (!claimed) return
    if (await isDone(needs, claimed)) await deleteUnsuppression(needs.db, claimed)
  }
}

async function isDone({ transport, log }: UnsuppressNeeds, claimed: ClaimedUnsuppression): Promise<boolean> {
  const { email, attempts, is_wanted } = claimed
  if (is_wanted || !transport.unsuppress) return true
  try {
    await transport.unsuppress(email)
    return true
  } catch (error) {
    const isLast = attempts >= mostAttempts
    const words = isLast ? 'and is given up' : 'and will be tried again'
    log.warn(
      { err: error, attempts },
      `taking an address off the upstream's suppression list failed ${words}`,
    )
    return isLast
  }
}
