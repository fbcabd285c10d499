// A campaign of ten thousand, with the service killed again and again, paused and resumed in between.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  makeCampaign,
  makeList,
  pause,
  progress,
  resume,
} from '../../src/features/campaigns/sending/fixtures/campaigns.ts'
import { int, row } from '../../src/kernel/row.ts'
import { sql } from '../../src/kernel/sql.ts'
import { until } from '../until.ts'
import { makeGrounds, watch } from './campaigns.ts'
import { randomFrom, seed } from './random.ts'

const count = 10_000

test(`of ${count} recipients none is lost by kills, pauses and resumes`, async (t) => {
  t.diagnostic(`POSTHORN_SEED=${seed}`)
  const random = randomFrom(seed)
  const { db, owner, tally, bound, kills, killAndStart, stop } = await makeGrounds()
  const emails = Array.from({ length: count }, (_, i) => `c${i}@example.org`)
  const listIds = [await makeList(db, owner, emails), await makeList(db, owner, emails.slice(0, 2_000))]
  for (const email of emails) tally.accept(email)
  const id = await makeCampaign(db, owner, { recipients: { listIds } })
  const eye = watch(db, [id])
  const reaches = (least: number) =>
    until(async () => tally.reached() >= least, `message ${least} to arrive`, 90_000)

  // While it freezes, or shortly after.
  await sleep(random() * 1_500)
  await killAndStart()
  await reaches(count * (0.1 + random() * 0.1))
  await killAndStart()
  await reaches(count * (0.3 + random() * 0.1))
  await pause(db, id)
  await sleep(1_000)
  const reached = tally.reached()
  await sleep(random() * 500)
  await killAndStart()
  await until(async () => !(await progress(db, id)).counts.queued, 'everything to be held', 30_000)
  assert.equal(tally.reached(), reached)
  await resume(db, id)
  await sleep(random() * 500)
  await killAndStart()
  await reaches(count * (0.5 + random() * 0.3))
  await pause(db, id)
  await sleep(random() * 300)
  await resume(db, id)
  await killAndStart()
  await reaches(count)
  await until(async () => (await progress(db, id)).status === 'sent', 'the campaign to be sent', 60_000)

  const looks = await eye.stop()
  t.diagnostic(`${tally.duplicates()} duplicates of at most ${kills()} × ${bound}; ${looks} looks`)
  assert.deepEqual([tally.missing(), tally.twofold(), tally.reached()], [[], [], count])
  assert.ok(tally.duplicates() <= kills() * bound, `${tally.duplicates()} duplicates`)
  assert.deepEqual((await progress(db, id)).counts, { sent: count })
  const Events = row<{ count: number }>({ count: int })
  const events = sql`select count(*)::int as count from message_events where type = 'sent'`
  assert.deepEqual(await db.one(Events, events), { count })
  assert.equal(await stop(), 0)
})
