// What costs the same however much has been sent: claiming, and the pages of the message list.
import { claimDue } from '../../src/features/messages/claim-queries.ts'
import { leaveQueue, loadDue } from '../../src/features/messages/delivery-queries.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { openPools, type Pools } from '../../src/main/wire.ts'
import type { Figure } from '../figure.ts'
import { median } from '../measure.ts'
import { figureOf, p99Ms, secondDatabase, takeTurns } from '../pair.ts'
import { startDatabase, startService } from '../start.ts'
import { fillFinished, fillQueue } from './fill.ts'

const large = Number(process.env.BENCH_FINISHED_MESSAGES ?? 2_000_000)
const smallClaim = 10_000
const smallList = 20_000
const claimsPerRound = 20
const batch = 200

/** The median of claiming and loading a batch, in milliseconds. */
async function claimMs(url: string, { db }: Pools): Promise<number> {
  await fillQueue(url, claimsPerRound * batch)
  const times: number[] = []
  for (let n = 0; n < claimsPerRound; n++) {
    const started = performance.now()
    const claimed = await claimDue(db, { lane: 0, limit: batch, leaseSeconds: 180 })
    const ids = claimed.map(({ message_id }) => message_id)
    await loadDue(db, ids)
    times.push(performance.now() - started)
    if (ids.length !== batch) throw new Error(`claimed ${ids.length} instead of ${batch}`)
    await leaveQueue(db, ids)
  }
  return median(times)
}

export async function benchQueue(): Promise<Figure[]> {
  const database = await startDatabase()
  const urls = { many: database.url, few: await secondDatabase(database.url, 'few') }
  const services = {
    many: await startService(urls.many, ['--role', 'api']),
    few: await startService(urls.few, ['--role', 'api']),
  }
  const open = (url: string) => openPools({ url, log: silentLog, strict: false })
  const pools = { many: open(urls.many), few: open(urls.few) }
  const list = (query: string) =>
    takeTurns((which) => p99Ms(`${services[which].url}/api/v1/messages?limit=50${query}`))
  try {
    await fillFinished(urls.few, smallClaim)
    await fillFinished(urls.many, large)
    const claim = await takeTurns((which) => claimMs(urls[which], pools[which]))
    await fillFinished(urls.few, smallList - smallClaim)
    const anchor = `at ${smallList.toLocaleString('en')}`
    const at = `at ${large.toLocaleString('en')}, ms`
    return [
      figureOf({ name: `claim of ${batch} ${at}`, anchor: 'at 10,000', atMost: 1.3 }, claim),
      figureOf({ name: `message.list p99 ${at}`, anchor, atMost: 1.5 }, await list('')),
      figureOf({ name: `message.list by tag p99 ${at}`, anchor, atMost: 1.5 }, await list('&tag=tag7')),
      figureOf(
        { name: `message.list by to p99 ${at}`, anchor, atMost: 1.5 },
        await list('&to=r7@example.org'),
      ),
      figureOf({ name: `message.list by status p99 ${at}`, anchor, atMost: 1.5 }, await list('&status=sent')),
    ]
  } finally {
    await Promise.all([services.many.stop(), services.few.stop(), pools.many.close(), pools.few.close()])
    await database.stop()
  }
}
