// Processes that read a mailbox are killed and frozen in the midst of it: every reply is there once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerTo, makeOutreach, secretKeys } from '../../src/features/outreach/watching/fixtures/outreach.ts'
import { makeApp } from '../app.ts'
import { type Dovecot, dovecotForTests, withoutDovecot } from '../stand-ins/dovecot.ts'
import { until } from '../until.ts'
import { kill, startWorker } from './worker.ts'

const patienceMs = 30_000
const app = await makeApp()
const dovecot = withoutDovecot ? ({} as Dovecot) : await dovecotForTests()
const outreach = makeOutreach(app, dovecot)
const [key] = await secretKeys()

const startWatcher = () =>
  startWorker('outreach-worker.ts', app.databaseUrl, {
    POSTHORN_SECRET_KEY: key?.toString('hex') ?? '',
    POSTHORN_OUTREACH_ALLOW_PRIVATE: 'true',
    OUTREACH_DOES: 'watch',
  })

const senders = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => `p${from + n}@x.example`)

/** A mailbox with answers of so many people, half of them taken for junk by its server. */
async function answered(count: number) {
  const mailbox = await outreach.makeMailbox()
  const written = await outreach.writeTo(mailbox)
  const deliver = async (people: string[], folder: string) =>
    dovecot.append(
      mailbox.user,
      people.map((from) => answerTo(written, { from })),
      { folder },
    )
  await deliver(senders(0, count / 2), 'INBOX')
  await deliver(senders(count / 2, count), 'Spam')
  const have = async () => (await outreach.replies(mailbox)).map(({ sender }) => sender)
  const untilThere = (least: number) =>
    until(async () => (await have()).length >= least, `${least} replies`, patienceMs)
  return { deliver, have, untilThere }
}

test('a process that reads is killed again and again: each reply once, none missed', {
  skip: withoutDovecot,
}, async (t) => {
  const count = 300
  const { have, untilThere } = await answered(count)
  for (const least of [1, 130]) {
    const watcher = await startWatcher()
    await untilThere(least)
    await kill(watcher)
    const read = (await have()).length
    t.diagnostic(`killed after ${read}`)
    assert.ok(read < count, 'the kill came too late')
  }
  const last = await startWatcher()
  await untilThere(count)
  await kill(last)
  assert.deepEqual((await have()).sort(), senders(0, count).sort())
})

test('two processes, one of them frozen in the midst of reading and awake again: each reply once', {
  skip: withoutDovecot,
}, async () => {
  const count = 200
  const { deliver, have, untilThere } = await answered(count)
  const one = await startWatcher()
  await untilThere(1)
  one.kill('SIGSTOP')
  assert.ok((await have()).length < count, 'it was frozen too late')
  // Takes the mailbox over when the lease is over; the first comes back with what it had read before.
  const other = await startWatcher()
  await untilThere(count)
  one.kill('SIGCONT')
  await deliver(senders(count, count + 20), 'INBOX')
  await untilThere(count + 20)
  await Promise.all([kill(one), kill(other)])
  assert.deepEqual((await have()).sort(), senders(0, count + 20).sort())
})
