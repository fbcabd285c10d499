import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import type { Db } from '../../kernel/db.ts'
import { silentLog } from '../../kernel/log.ts'
import type { Transport } from '../../kernel/ports.ts'
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
