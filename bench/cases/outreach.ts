// How long the plan of a week takes for very many who are enrolled, and the memory that it takes: it reads no more rows
// than there is room for.
import { insertAccount } from '../../src/features/accounts/account/queries.ts'
import { planAccount } from '../../src/features/outreach/planning/plan-account.ts'
import type { Db } from '../../src/kernel/db.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { migrate } from '../../src/main/migrate.ts'
import { openPools } from '../../src/main/wire.ts'
import type { Figure } from '../figure.ts'
import { median } from '../measure.ts'
import { firstLine, startChild, startDatabase } from '../start.ts'
import { onDatabase } from './fill.ts'

const enrolled = Number(process.env.BENCH_OUTREACH_ENROLLED ?? 100_000)
const fewer = enrolled / 10
const mailboxes = 50
const rounds = 5
const allowedSeconds = 2
const weekMs = 7 * 86_400_000
const schedule = { timezone: 'Europe/Paris', days: [1, 2, 3, 4, 5], from: '09:00', to: '18:00' }

/** Half of them wait for their first message, half for the second. */
function fill(url: string, accountId: string, count: number): Promise<void> {
  return onDatabase(url, async (client) => {
    await client.query(
      `insert into outreach_mailboxes
         (account_id, email, name, smtp, imap, sealed, daily_limit, created_at, modified_at)
       select $1, 'm' || n || '@acme.example', '', '{}', '{}', '', 40, now(), now() from generate_series(1, $2::int) n`,
      [accountId, mailboxes],
    )
    await client.query(
      `insert into outreach_prospects (account_id, email, created_at, modified_at)
       select $1, 'p' || n || '@globex.example', now(), now() from generate_series(1, $2::int) n`,
      [accountId, count],
    )
    await client.query(
      `insert into outreach_sequences
         (account_id, name, mailbox_ids, steps, schedule, status, created_at, modified_at)
       select $1, 'bench', array_agg(id), '[{}, {}]', $2, 'running', now(), now()
         from outreach_mailboxes where account_id = $1`,
      [accountId, JSON.stringify(schedule)],
    )
    await client.query(
      `insert into outreach_enrollments
         (account_id, sequence_id, prospect_id, next_step, mailbox_id, due_at, created_at)
       select $1, s.id, p.id, p.id % 2, case p.id % 2 when 1 then s.mailbox_ids[1 + p.id % $2::int] end, now(), now()
         from outreach_prospects p
         join outreach_sequences s on s.account_id = p.account_id
        where p.account_id = $1`,
      [accountId, mailboxes],
    )
    await client.query('vacuum analyze outreach_enrollments, outreach_prospects')
  })
}

async function makeAccount(url: string, db: Db, count: number): Promise<string> {
  const { id } = await insertAccount(db, { name: `bench ${count}`, outreach: true, monthlyQuota: null })
  await fill(url, id, count)
  return id
}

export async function benchOutreach(): Promise<Figure[]> {
  const database = await startDatabase()
  try {
    await migrate(database.url)
    const pools = openPools({ url: database.url, log: silentLog, strict: false })
    const many = await makeAccount(database.url, pools.db, enrolled)
    const few = await makeAccount(database.url, pools.db, fewer)
    const time = await timeOf(pools.db, many)
    await pools.close()
    return [time, await memoryOf(database.url, many, few)]
  } finally {
    await database.stop()
  }
}

async function timeOf(db: Db, accountId: string): Promise<Figure> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const started = performance.now()
    const { planned } = await planAccount(db, accountId, { now: new Date(), aheadMs: weekMs })
    times.push((performance.now() - started) / 1000)
    if (planned.length < mailboxes) throw new Error(`only ${planned.length} were planned`)
  }
  const measured = median(times)
  const name = `planning a week for ${enrolled.toLocaleString('en')} enrolled, seconds`
  const anchor = `what it may take, over ${mailboxes} mailboxes`
  const ratio = measured / allowedSeconds
  return { name, anchor, measured, anchorMeasured: allowedSeconds, ratio, wanted: 0, atMost: 1 }
}

/** Of a process that plans and does nothing else. */
async function peakOf(url: string, accountId: string): Promise<number> {
  return Number(await firstLine(startChild('planner', url, accountId))) / 1024
}

async function memoryOf(url: string, many: string, few: string): Promise<Figure> {
  const [peaks, anchors]: [number[], number[]] = [[], []]
  for (let round = 0; round < 3; round++) {
    anchors.push(await peakOf(url, few))
    peaks.push(await peakOf(url, many))
  }
  const [measured, anchorMeasured] = [median(peaks), median(anchors)]
  const name = `memory of planning a week for ${enrolled.toLocaleString('en')} enrolled, MB`
  const anchor = `for ${fewer.toLocaleString('en')} enrolled`
  return { name, anchor, measured, anchorMeasured, ratio: measured / anchorMeasured, wanted: 0, atMost: 1.2 }
}
