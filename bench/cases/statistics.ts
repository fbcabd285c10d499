// Reading statistics costs the same however much was sent: they are added up as events arrive.
import type pg from 'pg'
import { insertEvents } from '../../src/features/messages/event-queries.ts'
import { newUuid } from '../../src/kernel/id.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { openPools } from '../../src/main/wire.ts'
import type { Figure } from '../figure.ts'
import { median } from '../measure.ts'
import { benchKey, startDatabase, startService } from '../start.ts'
import { onDatabase } from './fill.ts'

const large = Number(process.env.BENCH_COUNTED_MESSAGES ?? 2_000_000)
const small = 20_000
const rounds = 5
const readsPerRound = 100
const chunk = 100_000
// The same for both: three months of days, some campaigns, lists, tags and domains; half of them of campaigns.
const [days, campaigns, lists, tags, domains] = [90, 20, 3, 10, 50]

const messages = `
  insert into messages (id, account_id, key_id, status, source, mode, stream, sender, recipient, subject, tag,
                        message_id, created_at, campaign_id, list_id, consent_source)
  select uuidv7(), k.account_id, k.id, 'delivered', case n % 2 when 0 then 'campaign' else 'api' end, 'live',
         case n % 2 when 0 then 'marketing' else 'transactional' end, 'shop@example.com',
         'r' || n || '@d' || n % ${domains} || '.example', 'News', 'tag' || n % ${tags}, n::text,
         now() - make_interval(days => n % ${days}),
         case n % 2 when 0 then c.first + n % ${days} % ${campaigns} end, 1 + n % ${lists},
         'shop'
    from (select account_id, id from api_keys limit 1) k, (select min(id) as first from campaigns) c,
         generate_series($1::int, $2::int) n`

// Two and a half events a message.
const events = `
  insert into message_events (id, account_id, message_id, type, at, data)
  select uuidv7(), m.account_id, m.id, t.type, m.created_at, t.data::jsonb
    from messages m
    join (values (0, 2, 'sent', '{}'), (0, 2, 'delivery', '{}'), (0, 1, 'open', '{"classification":"human"}'),
                 (1, 1, 'open', '{"classification":"robot"}')) as t (least, most, type, data)
      on m.message_id::int % 4 between t.least and t.least + t.most
   where m.message_id::int between $1 and $2`

async function fill(url: string, count: number): Promise<void> {
  await onDatabase(url, async (client) => {
    await client.query(`
      insert into campaigns (account_id, name, status, sender, total, created_at, modified_at)
      select k.account_id, 'News', 'sent', '{}', 1, now(), now()
        from (select account_id from api_keys limit 1) k, generate_series(1, ${campaigns})`)
    await client.query('alter table message_events disable trigger user')
    await client.query('alter table messages disable trigger user')
    for (let from = 1; from <= count; from += chunk)
      await fillChunk(client, from, Math.min(count, from + chunk - 1))
    await client.query('select recount_messages()')
    await client.query('select recount_reports()')
    await client.query('alter table message_events enable trigger user')
    await client.query('alter table messages enable trigger user')
    await client.query('vacuum analyze')
    await client.query('checkpoint')
  })
}

async function fillChunk(client: pg.Client, from: number, to: number): Promise<void> {
  await client.query(messages, [from, to])
  await client.query(events, [from, to])
}

async function p95Ms(url: string): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < readsPerRound; n++) {
    const started = performance.now()
    const response = await fetch(url, { headers: { 'api-key': benchKey } })
    await response.text()
    times.push(performance.now() - started)
    if (response.status !== 200) throw new Error(`${url} answered ${response.status}`)
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0
}

type Service = { url: string }

/** Both take turns, and the quietest round of each counts: what else the machine does only adds. */
async function figureOf(path: string, many: Service, few: Service): Promise<Figure> {
  const found: Record<'many' | 'few', number[]> = { many: [], few: [] }
  for (let round = 0; round < rounds; round++) {
    found.few.push(await p95Ms(few.url + path))
    found.many.push(await p95Ms(many.url + path))
  }
  const [measured, anchorMeasured] = [Math.min(...found.many), Math.min(...found.few)]
  const name = `${path.replace(/^.(api.v1|v3)/, '')} p95 at ${large.toLocaleString('en')} messages, ms`
  const anchor = `at ${small.toLocaleString('en')}`
  return { name, anchor, measured, anchorMeasured, ratio: measured / anchorMeasured, wanted: 0, atMost: 5 }
}

const batch = 50
const batches = 200

/** What recording an event costs with the counts and without, in batches, by the time of the whole statement. */
async function countingCost(url: string): Promise<Figure> {
  const { db, close } = openPools({ url, log: silentLog, strict: false })
  const times: Record<'enable' | 'disable', number[]> = { enable: [], disable: [] }
  try {
    await onDatabase(url, async (client) => {
      const { rows: all } = await client.query(
        `select id, account_id from messages limit ${2 * batches * batch}`,
      )
      for (let n = 0; n < 2 * batches; n++) {
        const which = n % 20 < 10 ? 'enable' : 'disable'
        if (n % 10 === 0) await client.query(`alter table message_events ${which} trigger user`)
        const rows = all
          .slice(n * batch, (n + 1) * batch)
          .map(({ id, account_id }) => ({ id: newUuid(), accountId: account_id, messageId: id }))
        const made = rows.map((one) => ({ ...one, type: 'sent', at: new Date(), data: '{}' }))
        const started = performance.now()
        await insertEvents(db, made)
        times[which].push(((performance.now() - started) * 1_000) / batch)
      }
    })
  } finally {
    await close()
  }
  const [measured, anchorMeasured] = [median(times.enable), median(times.disable)]
  const name = `recording an event with its counts, batches of ${batch}, µs`
  return { name, anchor: 'without', measured, anchorMeasured, ratio: measured / anchorMeasured, wanted: 0 }
}

export async function benchStatistics(): Promise<Figure[]> {
  const database = await startDatabase()
  const second = new URL(database.url)
  second.pathname = '/few'
  await onDatabase(database.url, (client) => client.query('create database few'))
  const many = await startService(database.url, ['--role', 'api'])
  const few = await startService(second.href, ['--role', 'api'])
  try {
    await fill(second.href, small)
    await fill(database.url, large)
    const paths = ['campaigns/1/stats', 'stats/cohorts', 'stats/deliverability', 'stats/engagement?tag=tag7']
    const own = [...paths, 'stats/revenue'].map((path) => `/api/v1/${path}`)
    const figures: Figure[] = []
    for (const path of [
      ...own,
      ...['aggregatedReport', 'reports'].map((name) => `/v3/smtp/statistics/${name}`),
    ])
      figures.push(await figureOf(path, many, few))
    return [...figures, await countingCost(database.url)]
  } finally {
    await Promise.all([many.stop(), few.stop()])
    await database.stop()
  }
}
