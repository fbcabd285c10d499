import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import type { Db } from '../../kernel/db.ts'
import { silentLog } from '../../kernel/log.ts'
import type { Transport } from '../../kernel/ports.ts'
import { sql } from '../../kernel/sql.ts'
import { within } from '../../kernel/within.ts'
import { openPace } from './upstream-rate.ts'

const { db } = (await makeApp()).pools

const upstream = (kind: string, perSecond: number): Transport => ({
  kind,
  signs: true,
  takesMarketing: true,
  concurrency: 10,
  perSecond: async () => perSecond,
  send: async () => ({ kind: 'accepted', upstreamId: null, response: 'ok' }),
  verify: async () => {},
  close: async () => {},
})

test('who waits for a turn while the database is away is told, and the next gets one', async () => {
  let isAway = true
  const shaky: Db = {
    ...db,
    one: (shape, statement) => (isAway ? Promise.reject(new Error('away')) : db.one(shape, statement)),
  }
  const pace = openPace({ db: shaky, log: silentLog, transport: upstream('away', 100) })
  const never = () => new Error('nobody was told')
  const turns = Array.from({ length: 3 }, () =>
    within(
      20_000,
      pace.turn(() => false),
      never,
    ),
  )
  for (const { status, reason } of (await Promise.allSettled(turns)) as PromiseRejectedResult[])
    assert.deepEqual([status, reason?.message], ['rejected', 'away'])
  isAway = false
  assert.equal(await pace.turn(() => false), 'go')
  pace.stop()
})

test('slots that go by while the process stands still are not used all at once afterwards', async () => {
  const pace = openPace({ db, log: silentLog, transport: upstream('standing', 100) })
  const times: number[] = []
  const turns = Array.from({ length: 60 }, async () => {
    const turn = await pace.turn(() => false)
    times.push(performance.now())
    return turn
  })
  await turns[0]
  const standsUntil = performance.now() + 400
  while (performance.now() < standsUntil);
  assert.deepEqual(new Set(await Promise.all(turns)), new Set(['go']))
  // Ten are allowed, and those that are a little late come with them.
  const soonAfter = times.filter((time) => time >= standsUntil && time < standsUntil + 100).length
  assert.ok(soonAfter <= 20, `${soonAfter} in a tenth of a second`)
  pace.stop()
})

test('who is left without a slot when it stops is told as well', async () => {
  const pace = openPace({ db, log: silentLog, transport: upstream('stopping', 100) })
  const turns = Array.from({ length: 30 }, () => pace.turn(() => false))
  await turns[0]
  const standsUntil = performance.now() + 200
  while (performance.now() < standsUntil);
  pace.stop()
  const never = () => new Error('nobody was told')
  const rest = await Promise.all(turns.slice(1).map((turn) => within(20_000, turn, never)))
  assert.equal(rest.at(-1), 'stopped')
})

test('slots that were taken by a clock that has been set back since keep nobody waiting', async () => {
  const pace = openPace({ db, log: silentLog, transport: upstream('set back', 100) })
  const ahead = sql`insert into upstream_rates (upstream, free_at) values ('set back', now() + interval '1 hour')`
  await db.run(ahead)
  const turn = within(
    5_000,
    pace.turn(() => false),
    () => new Error('it waits for the old time'),
  )
  assert.equal(await turn.finally(() => pace.stop()), 'go')
})
