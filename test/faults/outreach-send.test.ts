// Steps of sequences, handed over by processes that are many or that are killed: none leaves twice.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Peer, Received } from '../../src/adapters/smtp-transport/fixtures/scripted-server.ts'
import {
  type Account,
  env,
  mailServer,
  makeMailbox,
  makeOutreach,
  makeProspects,
  makeSequence,
  monday,
  run,
} from '../../src/features/outreach/fixtures/outreach.ts'
import { query } from '../processes/empty-database.ts'
import { until } from '../until.ts'
import { kill, startWorker } from './worker.ts'

const patienceMs = 30_000
const outreach = await makeOutreach()
const { databaseUrl } = outreach.app
const people = (count: number) => Array.from({ length: count }, (_, n) => `p${n}@globex.example`)
const oneStep = [{ subject: 'Hello {{ firstName }}', text: 'Hello.' }]

/** A mail server, and what it took: also what it has not answered for yet. */
async function openSink(t: TestContext, answer: (peer: Peer) => void) {
  const taken: Received[] = []
  const onText = (received: Received, peer: Peer) => {
    taken.push(received)
    answer(peer)
    return ''
  }
  const { port } = await mailServer(t, { onText })
  return { port, taken }
}

type Sink = Awaited<ReturnType<typeof openSink>>

const accept = (peer: Peer) => void (peer.socket.writable && peer.socket.write('250 2.0.0 taken\r\n'))
// Slow enough for a kill to meet messages that are under way.
const acceptSlowly = (peer: Peer) => void setTimeout(() => accept(peer), 40)

type Given = { mailboxes: number; count: number; sequence?: object; mailbox?: object }
type Running = { account: Account; id: number; emails: string[] }

/** A sequence that runs, every first step of which is due this moment. */
async function allDue(sink: Sink, given: Given): Promise<Running> {
  const account = await outreach.makeAccount()
  const ids: number[] = []
  for (let n = 0; n < given.mailboxes; n++)
    ids.push(
      await makeMailbox(account, sink.port, {
        email: `m${n}@acme.example`,
        dailyLimit: 2_000,
        ...given.mailbox,
      }),
    )
  const emails = people(given.count)
  await makeProspects(account, emails)
  const id = await makeSequence(account, ids, { steps: oneStep, ...given.sequence })
  await run(account, id, emails)
  await query(
    databaseUrl,
    `update outreach_enrollments e
        set planned_at = $2, mailbox_id = s.mailbox_ids[1 + e.prospect_id % cardinality(s.mailbox_ids)]
       from outreach_sequences s where s.id = $1 and e.sequence_id = s.id`,
    [id, monday],
  )
  return { account, id, emails }
}

/** Its clock begins so many minutes after the moment of the steps. */
const startSender = (minutes = 1) =>
  startWorker('outreach-worker.ts', databaseUrl, {
    ...env,
    OUTREACH_NOW: new Date(monday.getTime() + minutes * 60_000).toISOString(),
  })

type Message = { recipient: string; state: string }

const messagesOf = (id: number) =>
  query<Message>(
    databaseUrl,
    'select recipient, state from outreach_messages where sequence_id = $1 order by recipient',
    [id],
  )

const countIn = async (id: number, ...states: string[]) =>
  (await messagesOf(id)).filter(({ state }) => states.includes(state)).length

const sorted = (all: Iterable<string>) => [...all].sort()

/** Whom the server has a message for; fails where it has two. */
function reachedBy(sink: Sink): string[] {
  const reached = sink.taken.map(({ to }) => to)
  assert.equal(new Set(reached).size, reached.length, 'somebody was written to twice')
  return sorted(reached)
}

test('two processes share mailboxes: every step leaves once', async (t) => {
  const sink = await openSink(t, accept)
  const { id, emails } = await allDue(sink, { mailboxes: 3, count: 240 })
  const workers = await Promise.all([startSender(), startSender()])
  await until(async () => (await countIn(id, 'sent')) === emails.length, 'all to be recorded', patienceMs)
  for (const worker of workers) await kill(worker)
  assert.deepEqual(reachedBy(sink), sorted(emails))
  const ids = new Set(sink.taken.map(({ text }) => /^Message-ID: (\S+)/im.exec(text)?.[1]))
  assert.equal(ids.size, emails.length)
  const states = await query(
    databaseUrl,
    'select state, next_step::int, count(*)::int from outreach_enrollments where sequence_id = $1 group by 1, 2',
    [id],
  )
  assert.deepEqual(states, [{ state: 'finished', next_step: 1, count: emails.length }])
})

test('two processes together keep the cap of the day', async (t) => {
  const sink = await openSink(t, accept)
  const { id } = await allDue(sink, { mailboxes: 1, count: 60, mailbox: { dailyLimit: 37 } })
  const workers = await Promise.all([startSender(), startSender()])
  await until(async () => (await countIn(id, 'sent')) === 37, 'the cap to be reached', patienceMs)
  const waiting = `select 1 from outreach_enrollments where sequence_id = $1 and planned_at <= $2`
  const later = new Date(monday.getTime() + 60_000)
  const none = async () => (await query(databaseUrl, waiting, [id, later])).length === 0
  await until(none, 'the others to be put off', patienceMs)
  for (const worker of workers) await kill(worker)
  assert.equal(reachedBy(sink).length, 37)
})

test('one process is killed while another goes on, then that one: nobody twice, nobody forgotten', async (t) => {
  const sink = await openSink(t, acceptSlowly)
  const { id, emails } = await allDue(sink, { mailboxes: 3, count: 100 })
  const workers = await Promise.all([startSender(), startSender()])
  for (const [at, worker] of workers.entries()) {
    await until(async () => sink.taken.length >= 25 * (at + 1), 'some to arrive', patienceMs)
    await kill(worker)
  }
  // The leases of both are over by then.
  const last = await startSender(20)
  const isOver = async () => (await countIn(id, 'sent', 'unconfirmed')) === emails.length
  await until(isOver, 'every step to have its end', patienceMs)
  await kill(last)

  const messages = await messagesOf(id)
  const of = (state: string) => messages.filter((one) => one.state === state).map((one) => one.recipient)
  const [sent, open, reached] = [of('sent'), of('unconfirmed'), new Set(reachedBy(sink))]
  t.diagnostic(`${open.length} of which nobody knows, ${emails.length - reached.size} of them never left`)
  assert.deepEqual(sorted([...sent, ...open]), sorted(emails))
  assert.ok(sent.every((recipient) => reached.has(recipient)))
  // As many as are handed over at once.
  assert.ok(open.length > 0 && open.length <= 20)
})
