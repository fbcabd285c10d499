// Delivery of SMS: claim, commit, talk to the upstream outside any transaction, record what it said. A place is free
// again only when the result is committed, so a crash can double at most as many SMS as there are places.
import type { Db } from '../../kernel/db.ts'
import { newUuid } from '../../kernel/id.ts'
import type { Log } from '../../kernel/log.ts'
import type { SmsTransport } from '../../kernel/ports.ts'
import { surely } from '../../kernel/surely.ts'
import { claimSms, type DueRow, releaseClaim } from './delivery-queries.ts'
import { type HandedOver, type SmsResult, settle } from './settle.ts'
import { windowAt } from './window.ts'

export type SmsDeliveryNeeds = {
  db: Db
  log: Log
  now: () => Date
  transport: SmsTransport
  /** For keys in test mode. */
  capture: SmsTransport
  retryFactor: number
  leaseSeconds: number
}

export type SmsDelivery = {
  /** Something may be due at once. */
  wake(): void
  stop(): Promise<void>
}

const idleMs = 500
// How long all rest after the upstream has refused as a whole.
const shortestPauseMs = 1_000
const longestPauseMs = 30_000

export function startSmsDelivery(needs: SmsDeliveryNeeds): SmsDelivery {
  const underWay = new Map<Promise<void>, string>()
  let isStopping = false
  let pausedUntil = 0
  let wakeUp = () => {}

  async function run(): Promise<void> {
    while (!isStopping) {
      const begun = await begin().catch((error) => {
        needs.log.error({ err: error }, 'claiming SMS failed')
        return 0
      })
      if (begun === 0 && !isStopping) await Promise.race([idle(), ...underWay.keys()])
    }
    await Promise.all(underWay.keys())
  }

  async function begin(): Promise<number> {
    const limit = needs.transport.concurrency - underWay.size
    if (limit === 0 || performance.now() < pausedUntil) return 0
    const { leaseSeconds } = needs
    const except = [...underWay.values()]
    const claimed = await claimSms(needs.db, { limit, leaseSeconds, now: needs.now(), except })
    for (const due of claimed) {
      const work: Promise<void> = deliver(due)
        // The lease gives it back.
        .catch((error) => needs.log.error({ err: error, sms: due.id }, 'delivery of an SMS failed'))
        .finally(() => underWay.delete(work))
      underWay.set(work, due.id)
    }
    return claimed.length
  }

  async function deliver(due: DueRow): Promise<void> {
    if (isStopping) {
      await releaseClaim(needs.db, { accountId: due.account_id, id: due.id }, needs.now())
      return
    }
    const transport = due.mode === 'test' ? needs.capture : needs.transport
    const result = await handOver(needs, transport, due)
    if (result.kind === 'deferred' && result.fault === 'transport') ease(result.retryAfterMs)
    const isCaptured = transport.kind === 'capture'
    await record({ due, result, isCaptured, eventIds: [newUuid(), newUuid()] })
  }

  function ease(askedMs = shortestPauseMs): void {
    const pauseMs = Math.min(longestPauseMs, Math.max(shortestPauseMs, askedMs))
    pausedUntil = performance.now() + pauseMs * Math.min(1, needs.retryFactor)
  }

  // While the database is away, or others are in the way, the place stays taken.
  const record = (handedOver: HandedOver) =>
    surely(
      () => settle(needs, handedOver),
      () => isStopping,
    )

  function idle(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, idleMs)
      wakeUp = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  const running = run()
  return {
    wake: () => wakeUp(),
    async stop() {
      isStopping = true
      wakeUp()
      await running
    },
  }
}

async function handOver(needs: SmsDeliveryNeeds, transport: SmsTransport, due: DueRow): Promise<SmsResult> {
  if (due.suppressed !== null) return { kind: 'suppressed', reason: due.suppressed }
  const window = due.type === 'marketing' ? windowAt(needs.now()) : undefined
  if (window && !window.isOpen) return { kind: 'closed', says: window.says }
  if (window && window.secondsLeft < transport.shortestLifeSeconds)
    return { kind: 'closed', says: 'It could not be delivered any more before 20:00, Paris time' }
  return transport.send({
    id: due.id,
    accountId: due.account_id,
    sender: due.sender,
    recipient: `+${due.recipient}`,
    content: due.content,
    encoding: due.encoding,
    type: due.type,
    lifeSeconds: window?.secondsLeft ?? null,
  })
}
