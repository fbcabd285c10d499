// A place where campaigns are sent by a service that is killed now and then, and an eye on their counts meanwhile.
import assert from 'node:assert/strict'
import { after } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Owner, progress } from '../../src/features/campaigns/sending/fixtures/campaigns.ts'
import type { Db } from '../../src/kernel/db.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { row, text } from '../../src/kernel/row.ts'
import { sql } from '../../src/kernel/sql.ts'
import { openPools } from '../../src/main/wire.ts'
import { call } from '../app.ts'
import { makeEmptyDatabase } from '../processes/empty-database.ts'
import { sparePort } from '../spare-port.ts'
import { type Process, startService } from './service.ts'
import { openSink } from './sink.ts'
import { makeTally, type Tally } from './tally.ts'

export type Grounds = {
  db: Db
  owner: Owner
  tally: Tally
  /** How many messages a kill can double. */
  bound: number
  kills(): number
  killAndStart(): Promise<void>
  stop(): Promise<number | null>
}

export async function makeGrounds(): Promise<Grounds> {
  const tally = makeTally()
  const sink = await openSink(tally.take)
  const databaseUrl = await makeEmptyDatabase()
  const port = await sparePort()
  const place = { port, databaseUrl, sinkPort: sink.port, env: { POSTHORN_LEASE_SECONDS: '6' } }
  let service: Process = await startService(place)
  const { db, close } = openPools({ url: databaseUrl, log: silentLog, strict: true })
  after(async () => {
    await close()
    await sink.close()
  })
  const { body } = await call(`http://127.0.0.1:${port}`, 'GET', '/api/v1/capabilities', {})
  const Key = row<{ id: string; account_id: string }>({ id: text, account_id: text })
  const key = await db.one(Key, sql`select id, account_id from api_keys`)
  let kills = 0
  return {
    db,
    owner: { accountId: key.account_id, keyId: key.id },
    tally,
    bound: body.limits.in_flight_messages,
    kills: () => kills,
    async killAndStart() {
      kills++
      await service.kill()
      service = await startService(place)
    },
    stop: () => service.stop(),
  }
}

/** Looks at every campaign again and again: at no moment may one of their messages be missing, or one too many. */
export function watch(db: Db, ids: string[]): { stop(): Promise<number> } {
  let isOver = false
  let looks = 0
  const looking = (async () => {
    while (!isOver) {
      for (const id of ids) {
        const { total, sum, counts, kept, status } = await progress(db, id)
        assert.deepEqual(kept, counts, `campaign ${id}, ${status}`)
        assert.equal(sum, total ?? 0, `campaign ${id}, ${status}: ${JSON.stringify(counts)} of ${total}`)
        if (status === 'sent')
          assert.ok(!counts.queued && !counts.held, `${id} is sent: ${JSON.stringify(counts)}`)
        looks++
      }
      // The service shares the machine.
      await sleep(25)
    }
  })()
  // Told when it is asked for.
  looking.catch(() => {})
  return {
    async stop() {
      isOver = true
      await looking
      return looks
    },
  }
}
