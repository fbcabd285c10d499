// Looks at domains again in the background, each for itself; several processes share the work.
import type { Db } from '../../kernel/db.ts'
import type { DomainNeeds } from './look-at-domain.ts'
import { claimDue, type DomainRef } from './queries.ts'
import { checkDomain, keepCheck } from './verify-domain.ts'

const atOnce = 10
/** Of one account: whoever has many, or name servers that never answer, leaves room for others. */
const atOnceOfOne = 3
// Domains that fall due meanwhile wait for the next one.
const longestTurnMs = 30_000
// Longer than a turn and the longest look together.
const leaseMs = 5 * 60_000

type Needs = DomainNeeds & { db: Db }

/** Not to be called inside a transaction: it asks DNS and the upstream. */
export async function recheckDomains(needs: Needs, now: Date, stopping?: AbortSignal): Promise<void> {
  const until = new Date(now.getTime() + leaseMs)
  const end = performance.now() + longestTurnMs
  const turn = openTurn((ref) => recheck(needs, ref, now))
  while (!stopping?.aborted && performance.now() < end) {
    const limit = atOnce - turn.running.size
    const due = await claimDue(needs.db, { now, until, limit, mostOfOne: atOnceOfOne, counts: turn.counts() })
    for (const { account_id, domain } of due) turn.begin({ accountId: account_id, domain })
    if (turn.running.size === 0) return
    // One that waits for an answer does not hold up the others.
    await Promise.race(turn.running)
  }
  await Promise.all(turn.running)
}

/** What was begun for each account in this turn, and what of it goes on. */
function openTurn(work: (ref: DomainRef) => Promise<void>) {
  const running = new Set<Promise<void>>()
  const begun = new Map<string, number>()
  const open = new Map<string, number>()
  const add = (counts: Map<string, number>, account: string, n: number) =>
    counts.set(account, (counts.get(account) ?? 0) + n)
  return {
    running,
    begin(ref: DomainRef) {
      add(begun, ref.accountId, 1)
      add(open, ref.accountId, 1)
      const done = work(ref).finally(() => {
        running.delete(done)
        add(open, ref.accountId, -1)
      })
      running.add(done)
    },
    counts: () =>
      [...begun].map(([accountId, n]) => ({ accountId, begun: n, running: open.get(accountId) ?? 0 })),
  }
}

/** One that fails is due again after the lease and does not stop the others. */
async function recheck(needs: Needs, ref: DomainRef, now: Date): Promise<void> {
  try {
    const check = await checkDomain(needs, needs.db, ref, now)
    if (check) await needs.db.transaction((tx) => keepCheck(needs, tx, ref, check))
  } catch (error) {
    needs.log.error({ err: error, domain: ref.domain }, 'checking a domain failed')
  }
}
