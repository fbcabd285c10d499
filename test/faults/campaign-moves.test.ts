// Several campaigns over lists that overlap, moved about at random while the service is killed now and then.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  cancel,
  makeCampaign,
  makeList,
  type Progress,
  pause,
  progress,
  resume,
} from '../../src/features/campaigns/sending/fixtures/campaigns.ts'
import type { Db } from '../../src/kernel/db.ts'
import { row, text } from '../../src/kernel/row.ts'
import { sql } from '../../src/kernel/sql.ts'
import { until } from '../until.ts'
import { makeGrounds, watch } from './campaigns.ts'
import { randomFrom, seed } from './random.ts'

const campaigns = 6
const moves = 60
const kills = 3

const Sent = row<{ message_id: string; status: string }>({ message_id: text, status: text })

test('whatever moves come in whatever order, every recipient is accounted for and nobody gets two', async (t) => {
  t.diagnostic(`POSTHORN_SEED=${seed}`)
  const random = randomFrom(seed)
  const pick = <T>(from: T[]) => from[Math.floor(random() * from.length)] as T
  const grounds = await makeGrounds()
  const { db, owner, tally } = grounds
  const listIds: number[] = []
  for (let n = 0; n < 4; n++) {
    const from = n * 250
    const emails = Array.from({ length: 500 }, (_, i) => `m${from + i}@example.org`)
    listIds.push(await makeList(db, owner, emails))
  }
  const ids: string[] = []
  for (let n = 0; n < campaigns; n++) {
    const some = listIds.filter(() => random() < 0.6)
    const recipients = {
      listIds: some.length > 0 ? some : listIds,
      exclusionListIds: n % 3 === 2 ? [listIds[3]] : [],
    }
    ids.push(await makeCampaign(db, owner, { recipients }))
  }
  const eye = watch(db, ids)
  for (let n = 0; n < moves; n++) {
    await sleep(random() * 200)
    await pick([pause, pause, pause, resume, resume, resume, resume, n > moves / 2 ? cancel : pause])(
      db,
      pick(ids),
    )
    if (n % Math.floor(moves / kills) === Math.floor(moves / kills) - 1) await grounds.killAndStart()
  }
  for (const id of ids) await resume(db, id)
  const ended = await Promise.all(ids.map((id) => end(db, id)))
  t.diagnostic(
    `${await eye.stop()} looks; ${ended.map(({ status, counts }) => `${status} ${JSON.stringify(counts)}`)}`,
  )

  // Each message that left is recorded as sent, and none that is not recorded left.
  const rows = await db.many(Sent, sql`select message_id, status from messages`)
  const left = new Set(rows.filter(({ status }) => status === 'sent').map(({ message_id }) => message_id))
  const arrived = new Set(tally.messageIds())
  assert.deepEqual([[...left].filter((one) => !arrived.has(one))], [[]])
  const unrecorded = [...arrived].filter((one) => !left.has(one))
  assert.ok(unrecorded.length <= grounds.kills() * grounds.bound, `${unrecorded.length} left unrecorded`)
  const again = tally.total() - arrived.size
  assert.ok(again <= grounds.kills() * grounds.bound, `${again} came twice`)
  assert.equal(await grounds.stop(), 0)
})

const end = (db: Db, id: string): Promise<Progress> =>
  until(
    async () => {
      const found = await progress(db, id)
      const { queued = 0, held = 0 } = found.counts
      return (found.status === 'sent' || (found.status === 'cancelled' && queued + held === 0)) && found
    },
    `campaign ${id} to end`,
    60_000,
  )
