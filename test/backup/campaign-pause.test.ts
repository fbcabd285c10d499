// A campaign in the midst of being sent, kept back by a restore: whoever resumes it reaches all who had not got it.
import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { test } from 'node:test'
import {
  jobsOf,
  makeCampaign,
  makeList,
  progress,
  resume,
} from '../../src/features/campaigns/sending/fixtures/campaigns.ts'
import { people, stepsWith } from '../../src/features/campaigns/sending/fixtures/steps.ts'
import { sql } from '../../src/kernel/sql.ts'
import { makeApp } from '../app.ts'
import { makeEmptyDatabase } from '../processes/empty-database.ts'
import { until } from '../until.ts'
import { backup, dataFolder, restore } from './grounds.ts'

const app = await makeApp()
const { owner, claim, settleClaimed } = stepsWith(app)

test('what stands in the queue of a campaign waits with it, and leaves when it is resumed', async () => {
  const { db } = app.pools
  const me = await owner()
  const list = await makeList(db, me, people(10))
  const id = await makeCampaign(db, me, { recipients: { listIds: [list] } })
  await jobsOf(db)('freeze', 'feed')
  await claim(id, 3)
  await settleClaimed(id, 'sent')
  // A worker has two of them at the moment of the backup.
  await claim(id, 2)
  const dataDir = dataFolder('campaign')
  await mkdir(dataDir)
  const { file } = await backup(app.databaseUrl, dataDir)

  const url = await makeEmptyDatabase()
  const { waiting } = await restore(url, { file, pause: true })
  assert.deepEqual([waiting.messages, waiting.campaigns], [0, 1])
  const restored = (await makeApp({ databaseUrl: url })).pools.db
  const run = jobsOf(restored)
  await run('follow', 'feed')
  const { status, counts } = await progress(restored, id)
  assert.deepEqual([status, counts], ['suspended', { sent: 3, held: 5, queued: 2 }])
  await resume(restored, id)
  await run('follow', 'feed')
  // The lease of whoever had two of them ends.
  await restored.run(sql`update delivery_queue set due_at = now()`)
  await makeApp({ databaseUrl: url, deliver: true })
  await until(async () => (await progress(restored, id)).counts.delivered === 7, 'the others to leave')
})
