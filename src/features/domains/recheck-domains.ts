// Looks at domains again in the background, each for itself; several processes share the work.
import type { Db } from '../../kernel/db.ts'
import type { DomainNeeds } from './look-at-domain.ts'
import { claimDue } from './queries.ts'
import { checkDomain, keepCheck } from './verify-domain.ts'

const portion = 10
const portionsInTurn = 20
const leaseMs = 5 * 60_000

/** Not to be called inside a transaction: it asks DNS and the upstream. */
export async function recheckDomains(
  needs: DomainNeeds & { db: Db },
  now: Date,
  stopping?: AbortSignal,
): Promise<void> {
  const until = new Date(now.getTime() + leaseMs)
  for (let i = 0; i < portionsInTurn && !stopping?.aborted; i++) {
    const due = await claimDue(needs.db, { now, until, limit: portion })
    await Promise.all(
      due.map(({ account_id, domain }) => recheck(needs, { accountId: account_id, domain }, now)),
    )
    if (due.length < portion) return
  }
}

/** One that fails is due again after the lease and does not stop the others. */
async function recheck(
  needs: DomainNeeds & { db: Db },
  ref: { accountId: string; domain: string },
  now: Date,
): Promise<void> {
  try {
    const check = await checkDomain(needs, needs.db, ref, now)
    if (check) await needs.db.transaction((tx) => keepCheck(needs, tx, ref, check))
  } catch (error) {
    needs.log.error({ err: error, domain: ref.domain }, 'checking a domain failed')
  }
}
