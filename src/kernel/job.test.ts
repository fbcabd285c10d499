import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { makeDatabase } from '../../test/app.ts'
import { openPool, type PooledDb } from './db.ts'
import { type Job, runOnce, startJobs } from './job.ts'
import { silentLog } from './log.ts'
import { int, row } from './row.ts'
import { sql } from './sql.ts'

const url = await makeDatabase()
const [one, other] = [open(), open()]
await one.run(sql`create table runs (name text not null)`)

function open(): PooledDb {
  const pool = openPool({ url, max: 3, name: 'test', durable: true, checkRows: true, onError: () => {} })
  after(() => pool.close())
  return pool
}

const now = () => new Date('2026-11-15T09:30:00Z')
const jobOf = (name: string, run: Job['run']): Job => ({ name, everySeconds: 0.01, run })

function gate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open: () => open(), opened }
}

async function eventually(holds: () => boolean) {
  const deadline = Date.now() + 5_000
  while (!holds()) {
    assert.ok(Date.now() < deadline, 'it did not come about within five seconds')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

test('a job runs in one process at a time; the other passes it by instead of waiting', async () => {
  const [entered, released] = [gate(), gate()]
  const runs: string[] = []
  const jobIn = (process: string) =>
    jobOf('exclusive', async () => {
      runs.push(process)
      entered.open()
      await released.opened
    })
  const first = runOnce(jobIn('one'), { db: one, now })
  await entered.opened
  await runOnce(jobIn('other'), { db: other, now })
  assert.deepEqual(runs, ['one'])
  const unrelated = jobOf('unrelated', async () => void runs.push('unrelated'))
  await runOnce(unrelated, { db: other, now })
  assert.deepEqual(runs, ['one', 'unrelated'])
  released.open()
  await first
  await runOnce(jobIn('other'), { db: other, now })
  assert.deepEqual(runs, ['one', 'unrelated', 'other'])
})

test('a job gets the time, and what it wrote before a failure is undone', async () => {
  const failing = jobOf('failing', async (db, at) => {
    await db.run(sql`insert into runs (name) values (${at.toISOString()})`)
    throw new Error('planted')
  })
  await assert.rejects(runOnce(failing, { db: one, now }), /planted/)
  const { n } = await one.one(row<{ n: number }>({ n: int }), sql`select count(*)::int as n from runs`)
  assert.equal(n, 0)
})

test('a failure is logged with the name of the job, and the next run happens', async () => {
  const lines: { job?: string; msg: string; err?: { message: string } }[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  let runs = 0
  const job = jobOf('stumbling', async () => {
    if (++runs === 1) throw new Error('planted')
  })
  const running = startJobs([job], { db: one, log, now })
  await eventually(() => runs >= 3)
  await running.stop()
  assert.equal(lines.length, 1)
  assert.deepEqual([lines[0]?.job, lines[0]?.err?.message], ['stumbling', 'planted'])
})

test('stopping waits for the run under way and lets no other begin', async () => {
  const [entered, released] = [gate(), gate()]
  let runs = 0
  let isDone = false
  const job = jobOf('long', async () => {
    runs++
    entered.open()
    await released.opened
    isDone = true
  })
  const running = startJobs([job], { db: one, log: silentLog, now })
  await entered.opened
  const stopped = running.stop()
  released.open()
  await stopped
  assert.deepEqual([isDone, runs], [true, 1])
})

test('stopping does not wait for the next turn of a job that sleeps', async () => {
  let runs = 0
  const job: Job = { name: 'rare', everySeconds: 3_600, run: async () => void runs++ }
  const running = startJobs([job], { db: one, log: silentLog, now })
  await eventually(() => runs === 1)
  const started = performance.now()
  await running.stop()
  assert.ok(performance.now() - started < 1_000)
})
