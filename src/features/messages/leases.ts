// What is under way stays this worker's for as long as that takes: a slow upstream may need longer than the lease, and
// whoever claims the message then would send it a second time.
import type { Db } from '../../kernel/db.ts'
import type { Log } from '../../kernel/log.ts'
import { type Claim, renewClaims } from './claim-queries.ts'

/** `leaseEnds`: by performance.now(). */
type Leased = Claim & { leaseEnds: number }

type Needs = { db: Db; log: Log; leaseSeconds: number }

export type Leases = {
  hold(claim: Leased, work: () => Promise<void>): Promise<void>
  stop(): void
}

export function openLeases({ db, log, leaseSeconds }: Needs): Leases {
  const leaseMs = leaseSeconds * 1000
  const underWay = new Set<Leased>()
  let isRenewing = false

  async function renew(): Promise<void> {
    const leaseEnds = performance.now() + leaseMs
    const old = [...underWay].filter((one) => leaseEnds - one.leaseEnds > leaseMs / 4)
    if (old.length === 0) return
    await renewClaims(db, old, leaseSeconds)
    for (const one of old) one.leaseEnds = leaseEnds
  }

  const timer = setInterval(() => {
    if (isRenewing) return
    isRenewing = true
    renew()
      .catch((error) => log.warn({ err: error }, 'leases of messages under way were not renewed'))
      .finally(() => {
        isRenewing = false
      })
  }, leaseMs / 8)

  return {
    async hold(claim, work) {
      underWay.add(claim)
      await work().finally(() => underWay.delete(claim))
    },
    stop: () => clearInterval(timer),
  }
}
