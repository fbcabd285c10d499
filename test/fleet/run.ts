// A fleet under everything at once, its processes killed and frozen at random moments: what it promised holds.
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { insertAccount, upsertLimit } from '../../src/features/accounts/account/queries.ts'
import { makeKey, unrestricted } from '../../src/features/accounts/keys/make-key.ts'
import { makeCampaign, makeList, progress } from '../../src/features/campaigns/sending/fixtures/campaigns.ts'
import { openReceiver } from '../../src/features/webhooks/fixtures/receiver.ts'
import { watch } from '../faults/campaigns.ts'
import { randomFrom, seed } from '../faults/random.ts'
import { openSink } from '../faults/sink.ts'
import { makeTally } from '../faults/tally.ts'
import { query } from '../processes/empty-database.ts'
import { until } from '../until.ts'
import { type Fleet, listeningPorts, makeFleet, type Seat } from './fleet.ts'
import { ask, excess, sendOverHttp, sendOverSmtp, useUpLimit } from './load.ts'

export type Size = {
  http: number
  smtp: number
  campaign: number
  imported: number
  /** Rounds in which one of each kind is killed. */
  rounds: number
  /** Between two kills. */
  restMs: number
  /** The longest that one of a round stands still; a lease is six seconds. */
  frozenMs: number
}

const limit = 40
const [cap, quota] = [120, 90]
const patienceMs = 120_000

export function testFleet(name: string, size: Size): void {
  test(name, { timeout: 600_000 }, async (t) => {
    t.diagnostic(`POSTHORN_SEED=${seed}`)
    const tally = makeTally()
    const sink = await openSink(tally.take)
    after(() => sink.close())
    const fleet = await makeFleet(sink.port)
    await startByRole(fleet, tally.reached)
    const done = await underLoad(fleet, size, tally, t)
    await until(async () => tally.missing().length === 0, 'every accepted message to arrive', patienceMs)
    await settled(fleet)
    await holdsWhatItPromised(fleet, size, tally, done)
    await stopsInTime(fleet)
  })
}

/** Each process does what its role says, and nothing else. */
async function startByRole({ databaseUrl, apis, relay, workers, seats }: Fleet, reached: () => number) {
  await Promise.all([...apis, relay].map((seat) => seat.start()))
  const tally = makeTally()
  const http = await sendOverHttp(apis, { prefix: 'early', count: 2, loops: 1, tally })
  const smtp = await sendOverSmtp(relay, { prefix: 'early-smtp', count: 2, loops: 1, tally })
  assert.deepEqual(
    [http, smtp],
    [
      { accepted: 2, refused: {} },
      { taken: 2, failures: 0 },
    ],
  )
  // Long enough for a worker to have taken them.
  await pause(1_500)
  const queued = `select count(*)::int as queued, max(attempts) as attempts from messages where status = 'queued'`
  assert.deepEqual(await query(databaseUrl, queued), [{ queued: 4, attempts: 0 }])
  assert.equal(reached(), 0)
  await Promise.all(workers.map((seat) => seat.start()))
  await until(async () => reached() === 4, 'the first messages')
  for (const { kind, port, process } of seats) {
    const { url, smtp } = process().report
    assert.deepEqual([url !== null, smtp !== null], [kind === 'api', kind === 'smtp'])
    assert.deepEqual(await listeningPorts(process().pid), kind === 'worker' ? [] : [port], kind)
  }
}

type Tally = ReturnType<typeof makeTally>
type Owner = { accountId: string; keyId: string }

async function prepare({ db, databaseUrl, apis }: Fleet, { campaign }: Size) {
  const [first] = await query<{ id: string; account_id: string }>(
    databaseUrl,
    'select id, account_id from api_keys',
  )
  assert.ok(first)
  const owner: Owner = { accountId: first.account_id, keyId: first.id }
  const small = await insertAccount(db, { name: 'small', outreach: false, monthlyQuota: quota })
  for (const accountId of [owner.accountId, small.id])
    await upsertLimit(db, accountId, 'email.send', 1_000_000)
  await upsertLimit(db, owner.accountId, 'usage.get', limit)
  const capped = await makeKey(db, owner.accountId, { ...unrestricted, name: 'capped', dailyCap: cap })
  const limited = await makeKey(db, small.id, { ...unrestricted, name: 'small' })
  const receiver = await openReceiver((_got, response) => setTimeout(() => response.writeHead(200).end(), 5))
  const hook = await ask(apis, 'POST', '/v3/webhooks', { body: { url: receiver.url, events: ['request'] } })
  assert.equal(hook.status, 201, hook.text)
  const emails = Array.from({ length: campaign }, (_, i) => `c${i}@example.org`)
  // What is imported goes elsewhere: whether it were among the campaign's recipients depends on who is first.
  const [listId, importedTo] = [await makeList(db, owner, emails), await makeList(db, owner, [])]
  // The processes have remembered limits and webhooks for some seconds.
  await pause(4_000)
  return { owner, capped, limited, receiver, emails, listId, importedTo }
}

async function underLoad(fleet: Fleet, size: Size, tally: Tally, t: TestContext) {
  const { db, apis, relay } = fleet
  const { owner, capped, limited, receiver, emails, listId, importedTo } = await prepare(fleet, size)
  const before = await messagesOf(fleet)
  for (const email of emails) tally.accept(email)
  const campaignId = await makeCampaign(db, owner, { recipients: { listIds: [listId] } })
  const eye = watch(db, [campaignId])
  const body = { fileBody: fileOf(size.imported), listIds: [importedTo] }
  const started = await ask(apis, 'POST', '/v3/contacts/import', { body })
  assert.equal(started.status, 202, started.text)
  let isOver = false
  const using = useUpLimit(apis, '/api/v1/usage', () => isOver)
  const sending = Promise.all([
    sendOverHttp(apis, { prefix: 'h', count: size.http, loops: 8, tally }),
    sendOverHttp(apis, { key: capped.key, prefix: 'cap', count: cap + 60, loops: 4, tally }),
    sendOverHttp(apis, { key: limited.key, prefix: 'quota', count: quota + 60, loops: 4, tally }),
    sendOverSmtp(relay, { prefix: 's', count: size.smtp, loops: 2, tally }),
  ])
  await killAtRandom(fleet, size)
  const [http, byCap, byQuota, smtp] = await sending
  isOver = true
  const { passed, lost } = await using
  await until(async () => (await progress(db, campaignId)).status === 'sent', 'the campaign', patienceMs)
  const looks = await eye.stop()
  t.diagnostic(`${http.accepted} over HTTP, ${smtp.taken} over SMTP (${smtp.failures} lost), ${looks} looks`)
  return {
    before,
    byCap,
    byQuota,
    passed,
    lost,
    http,
    receiver,
    campaignId,
    processId: started.body.processId,
    capped,
    limited,
  }
}

function fileOf(count: number): string {
  const lines = Array.from({ length: count }, (_, i) => `i${i}@example.net;Name ${i}`)
  return `EMAIL;FIRSTNAME\n${lines.join('\n')}`
}

const messagesOf = async ({ databaseUrl }: Fleet) =>
  (await query<{ n: number }>(databaseUrl, 'select count(*)::int as n from messages'))[0]?.n ?? 0

/** In each round one of every kind, in any order, while another stands still; the other API and worker go on. */
async function killAtRandom(fleet: Fleet, { rounds, restMs, frozenMs }: Size): Promise<void> {
  const { apis, workers, relay, seats } = fleet
  const random = randomFrom(seed)
  const oneOf = (seats: Seat[]) => seats[Math.floor(random() * seats.length)] as Seat
  for (let round = 0; round < rounds; round++) {
    const victims = [oneOf(apis), oneOf(workers), relay].sort(() => random() - 0.5)
    const others = seats.filter((seat) => !victims.includes(seat))
    const thawed = oneOf(others).freeze(random() * frozenMs)
    for (const victim of victims) {
      await pause(random() * restMs)
      await victim.killAndStart()
    }
    await thawed
  }
}

async function settled({ databaseUrl }: Fleet): Promise<void> {
  for (const table of ['delivery_queue', 'webhook_queue', 'process_chunks']) {
    const isEmpty = async () => (await query(databaseUrl, `select 1 from ${table} limit 1`)).length === 0
    await until(isEmpty, `${table} to be empty`, patienceMs)
  }
}

type Done = Awaited<ReturnType<typeof underLoad>>

async function holdsWhatItPromised(fleet: Fleet, size: Size, tally: Tally, done: Done): Promise<void> {
  const { databaseUrl, db, workers, apis } = fleet
  const one = async (text: string) => (await query(databaseUrl, text))[0]
  const { body } = await ask(apis, 'GET', '/api/v1/capabilities', {})
  const faults = workers.reduce((sum, { kills, freezes }) => sum + kills + freezes, 0)
  const bound = faults * body.limits.in_flight_messages
  assert.deepEqual([tally.missing(), tally.twofold()], [[], []])
  assert.ok(tally.duplicates() <= bound, `${tally.duplicates()} duplicates, more than ${bound}`)
  assert.deepEqual([done.http.accepted, done.http.refused], [size.http, {}])
  assert.deepEqual((await progress(db, done.campaignId)).counts, { sent: size.campaign })
  // Limits, caps and quotas: not one more over all processes, and not one less but for answers that were lost.
  assert.equal(excess(done.passed, limit), undefined)
  assert.ok(done.passed.length + done.lost >= limit, `${done.passed.length} passed, ${done.lost} lost`)
  assert.deepEqual(done.byQuota, { accepted: quota, refused: { monthly_quota_reached: 60 } })
  const days = await capHeld(fleet, done)
  const month = `select sum(sent)::int as sent from sending_months join accounts a on a.id = account_id
                  where a.name = 'small'`
  assert.deepEqual(await one(month), { sent: quota })
  await recurringWorkOnce(fleet, days === 1 ? 2 : 1)
  await importExact(fleet, size, done)
  await webhooksTold(fleet, done)
}

/** To the last message of every day: a run may go over midnight (UTC), where the cap begins anew. */
async function capHeld({ databaseUrl }: Fleet, { byCap, capped }: Done): Promise<number> {
  const text = `select sent::int from sending_days where key_id = '${capped.id}' order by day`
  const days = (await query<{ sent: number }>(databaseUrl, text)).map(({ sent }) => sent)
  assert.ok(
    days.every((sent) => sent <= cap),
    days.join(' '),
  )
  assert.equal(
    byCap.accepted,
    days.reduce((sum, sent) => sum + sent, 0),
  )
  if (days.length === 1) assert.deepEqual(byCap, { accepted: cap, refused: { daily_cap_reached: 60 } })
  return days.length
}

/** The notices of this day and month: each is written by a job that both workers run, at every start. */
async function recurringWorkOnce({ databaseUrl, workers }: Fleet, least: number): Promise<void> {
  for (const worker of workers) await worker.killAndStart()
  const notices = () =>
    query(
      databaseUrl,
      `select subject, count(*)::int as n from notices where code = 'cap_near' group by subject, details ->> 'period'`,
    )
  await until(async () => (await notices()).length >= least, 'the notices of the cap and the quota')
  assert.ok((await notices()).every(({ n }) => n === 1))
  // Counted by a trigger, folded by a job: the same as a recount.
  const [counted] = await query(
    databaseUrl,
    `select (select sum(n)::int from (select name, n from domain_counts union all
                                      select name, n from domain_count_changes) c where name = 'sent') as kept,
            (select count(*)::int from message_events where type = 'sent') as events,
            (select count(*)::int from messages where status = 'sent') as messages`,
  )
  assert.ok(counted && counted.messages > 0)
  assert.deepEqual([counted.kept, counted.events], [counted.messages, counted.messages])
}

async function importExact(
  { databaseUrl, apis }: Fleet,
  { imported }: Size,
  { processId }: Done,
): Promise<void> {
  const { body } = await ask(apis, 'GET', `/v3/processes/${processId}`, {})
  const { total, created, updated, faulty } = body.info.import
  assert.deepEqual([body.status, total, created, updated, faulty], ['completed', imported, imported, 0, 0])
  const [found] = await query(
    databaseUrl,
    `select count(*)::int as n, count(distinct email)::int as different from contacts where email like '%@example.net'`,
  )
  assert.deepEqual(found, { n: imported, different: imported })
}

/** Every single message of the account since the webhook was there: at least once, always under one id. */
async function webhooksTold({ databaseUrl }: Fleet, { receiver, before, limited }: Done): Promise<void> {
  const rows = await query<{ recipient: string }>(
    databaseUrl,
    `select recipient from messages m join api_keys k on k.id = m.key_id
      where m.status = 'sent' and m.stream = 'transactional'
        and k.account_id <> (select account_id from api_keys where id = '${limited.id}')
      order by m.created_at offset ${before}`,
  )
  const ids = new Map<string, Set<unknown>>()
  for (const { body, headers } of receiver.got)
    ids.set(body.email, (ids.get(body.email) ?? new Set()).add(headers['webhook-id']))
  assert.deepEqual(
    rows.filter(({ recipient }) => !ids.has(recipient)),
    [],
  )
  assert.deepEqual(
    [...ids.values()].filter((of) => of.size !== 1),
    [],
  )
}

async function stopsInTime({ seats }: Fleet): Promise<void> {
  const from = performance.now()
  const codes = await Promise.all(seats.map((seat) => seat.process().stop()))
  assert.deepEqual(
    codes,
    seats.map(() => 0),
  )
  assert.ok(performance.now() - from < 10_000, 'stopping took more than 10 s')
}
