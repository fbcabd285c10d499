// Gives domains up at the upstream after the last account deleted them here.
import type { Db } from '../../kernel/db.ts'
import type { Log } from '../../kernel/log.ts'
import type { Transport } from '../../kernel/ports.ts'
import { type ClaimedRemoval, claimRemoval, deleteRemoval, passOnRegistration } from './removal-queries.ts'

export type RemovalNeeds = { db: Db; log: Log; transport: Pick<Transport, 'removeIdentity'> }

// Upstreams allow about one such call in a second.
const mostInTurn = 20
const leaseSeconds = 300
const mostAttempts = 12

/**
 * Not to be called inside a transaction: it talks to the upstream. One by one: whether somebody has declared a domain
 * again is asked just before.
 */
export async function removeUpstream(needs: RemovalNeeds, stopping?: AbortSignal): Promise<void> {
  for (let i = 0; i < mostInTurn && !stopping?.aborted; i++) {
    const claimed = await claimRemoval(needs.db, leaseSeconds)
    if (!claimed) return
    if (await isDone(needs, claimed)) await deleteRemoval(needs.db, claimed)
  }
}

async function isDone({ db, transport, log }: RemovalNeeds, claimed: ClaimedRemoval): Promise<boolean> {
  const { domain, attempts, is_wanted } = claimed
  if (is_wanted) await passOnRegistration(db, domain)
  if (is_wanted || !transport.removeIdentity) return true
  try {
    await transport.removeIdentity(domain)
    return true
  } catch (error) {
    const isLast = attempts >= mostAttempts
    const words = isLast ? 'and is left there' : 'and will be tried again'
    log.warn({ err: error, domain, attempts }, `giving a domain up at the upstream failed ${words}`)
    return isLast
  }
}
