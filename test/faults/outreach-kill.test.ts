// A process is killed while the mailbox's server has a message and nobody has heard its answer.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Peer, Received } from '../../src/adapters/smtp-transport/fixtures/scripted-server.ts'
import {
  env,
  mailServer,
  makeMailbox,
  makeOutreach,
  makeProspects,
  makeSequence,
  monday,
  run,
  watchUntil,
} from '../../src/features/outreach/fixtures/outreach.ts'
import { query } from '../processes/empty-database.ts'
import { dovecotForTests, password, withoutDovecot } from '../stand-ins/dovecot.ts'
import { until } from '../until.ts'
import { kill, startWorker } from './worker.ts'

const patienceMs = 30_000
const outreach = await makeOutreach()
const { databaseUrl } = outreach.app
const emails = ['ann@globex.example', 'bob@globex.example', 'eve@globex.example']

const after = (minutes: number) => new Date(monday.getTime() + minutes * 60_000)

const startProcess = (does: 'send' | 'watch', minutes: number) =>
  startWorker('outreach-worker.ts', databaseUrl, {
    ...env,
    OUTREACH_DOES: does,
    OUTREACH_NOW: after(minutes).toISOString(),
  })

/** Says nothing to a message that it has, until it is told to. */
async function silentServer(t: TestContext) {
  const taken: Received[] = []
  const habits = { isSilent: true, greets: true }
  const onText = (received: Received) => {
    taken.push(received)
    return habits.isSilent ? '' : undefined
  }
  const on = (command: string, _peer: Peer) => (command.startsWith('MAIL') && !habits.greets ? '' : undefined)
  const { port } = await mailServer(t, { onText, on })
  return { port, taken, habits }
}

/** A sequence of two steps, the first of which is due, over a mailbox whose IMAP server is at that port. */
async function firstsDue(smtpPort: number, imap: object): Promise<number> {
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, smtpPort, imap)
  await makeProspects(account, emails)
  const id = await makeSequence(account, [mailbox])
  await run(account, id, emails)
  await query(
    databaseUrl,
    'update outreach_enrollments set planned_at = $2, mailbox_id = $3 where sequence_id = $1',
    [id, monday, mailbox],
  )
  return id
}

type Message = { id: string; recipient: string; step: number; state: string }

const messagesOf = (id: number) =>
  query<Message>(
    databaseUrl,
    'select id, recipient, step::int, state from outreach_messages where sequence_id = $1 order by step, recipient',
    [id],
  )

const statesOf = async (id: number) => (await messagesOf(id)).map(({ state }) => state)

const areAll = (id: number, state: string, count = emails.length) =>
  until(
    async () => (await statesOf(id)).filter((each) => each === state).length === count,
    `all to be ${state}`,
    patienceMs,
  )

test('what a killed process had handed over is never sent again, and found among what was sent', {
  skip: withoutDovecot,
}, async (t) => {
  const [server, dovecot] = [await silentServer(t), await dovecotForTests()]
  const imap = { host: '127.0.0.1', port: dovecot.port, secure: false, user: 'killed', password }
  const id = await firstsDue(server.port, { imap })
  const first = await startProcess('send', 1)
  await until(async () => server.taken.length === emails.length, 'all to be handed over', patienceMs)
  await kill(first)
  assert.deepEqual(await statesOf(id), ['handing', 'handing', 'handing'])

  server.habits.isSilent = false
  const next = await startProcess('send', 20)
  await areAll(id, 'unconfirmed')
  await kill(next)
  assert.equal(server.taken.length, emails.length)

  // The server had filed two of them; the third is nowhere.
  for (const { text } of server.taken.filter(({ to }) => to !== 'eve@globex.example'))
    await dovecot.append('killed', text, { folder: 'Sent' })
  const watcher = await startProcess('watch', 21)
  await areAll(id, 'sent', 2)
  await kill(watcher)
  const found = await messagesOf(id)
  assert.deepEqual(
    found.map(({ recipient, state }) => [recipient, state]),
    [
      ['ann@globex.example', 'sent'],
      ['bob@globex.example', 'sent'],
      ['eve@globex.example', 'unconfirmed'],
    ],
  )
})

test('killed before the message leaves: nobody knows, so it never goes; the second step does', async (t) => {
  const server = await silentServer(t)
  server.habits.greets = false
  const id = await firstsDue(server.port, {})
  const first = await startProcess('send', 1)
  await until(async () => (await statesOf(id)).length === emails.length, 'all to be taken', patienceMs)
  await kill(first)
  Object.assign(server.habits, { greets: true, isSilent: false })
  const second = await startProcess('send', 20)
  await areAll(id, 'unconfirmed')
  await kill(second)
  assert.equal(server.taken.length, 0)

  // Three days later the planner gives them their moments.
  await query(databaseUrl, 'update outreach_enrollments set planned_at = due_at where sequence_id = $1', [id])
  await watchUntil(outreach, after(3 * 24 * 60 + 90))
  const third = await startProcess('send', 3 * 24 * 60 + 30)
  await areAll(id, 'sent')
  await kill(third)
  assert.deepEqual(server.taken.map(({ to }) => to).sort(), emails)
  assert.ok(server.taken.every(({ text }) => /^Subject: Re: Hello /m.test(text)))
})
