// What stands between a follow-up and its leaving after a time in which nobody read the mailbox.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../../../test/until.ts'
import { type FolderState, MailboxFault, type OpenMailbox } from '../../../kernel/mailbox-ports.ts'
import {
  enrollments,
  mailServer,
  makeMailbox,
  makeOutreach,
  makeProspects,
  makeSequence,
  monday,
  pass,
  run,
} from '../fixtures/outreach.ts'
import { planAll } from '../planning/plan-account.ts'
import { startWatching } from '../watching/watch-mailboxes.ts'
import { sendDue } from './engine.ts'

const outreach = await makeOutreach()
const { clock, engine } = outreach
const { db } = engine
const [ann, bob] = ['ann@globex.example', 'bob@globex.example']
const patienceMs = 30_000

/** Both have their first message; three days later the second one is due. Nobody has watched since. */
async function afterStop(t: TestContext) {
  clock.now = monday
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const mailbox = await makeMailbox(account, server.port)
  await makeProspects(account, [ann, bob])
  const id = await makeSequence(account, [mailbox])
  await run(account, id, [ann, bob])
  await pass(outreach, 60)
  assert.equal(server.received.length, 2)
  clock.now = new Date('2026-11-19T12:30:00Z')
  return { server, account, mailbox, id }
}

/** The jobs for so long, and nobody watches but who does. */
async function sendFor(minutes: number): Promise<void> {
  for (const end = clock.now.getTime() + minutes * 60_000; clock.now.getTime() < end; ) {
    await planAll(db, clock.now)
    clock.now = new Date(clock.now.getTime() + 4 * 60_000)
    await sendDue(engine)
  }
}

/** The reader comes to the mail of the inbox when it may. */
type Watcher = { mail?: string; before?: () => Promise<unknown>; most?: number; log?: typeof engine.log }

function watch(t: TestContext, { mail, before, most, log = engine.log }: Watcher) {
  const raw = Buffer.from(mail ?? '')
  const heads = mail === undefined ? [] : [{ uid: 1, receivedAt: clock.now, head: raw }]
  const open: OpenMailbox = {
    folders: ['INBOX'],
    enter: async (): Promise<FolderState> => {
      await before?.()
      return { uidValidity: '1', uidNext: 2 }
    },
    firstSince: async () => heads[0]?.uid,
    headsAfter: async (uid) => heads.filter((one) => one.uid > uid),
    source: async () => raw,
    findSent: async () => [],
    wait: (ms, stopping) => sleep(ms, undefined, { signal: stopping }).catch(() => {}),
    close: () => {},
  }
  const reader = { test: async () => undefined, open: async () => open }
  // The clock leaps, and whoever has the mailbox keeps it.
  const timings = { tickMs: 20, leaseMs: 7 * 86_400_000, waitMs: 60_000, retryMs: 0 }
  const { now, secretKeys } = engine
  const watching = startWatching({ db, log, now, reader, secretKeys, timings, most })
  t.after(() => watching.stop())
}

function gate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open: () => open(), opened }
}

test('after a stop a follow-up waits until the mailbox was read: who answered gets none', async (t) => {
  const { server, id } = await afterStop(t)
  await sendFor(60)
  assert.equal(server.received.length, 2)

  const toAnn = server.received.find(({ to }) => to === ann)?.text ?? ''
  const messageId = /^Message-ID: (.*)\r$/im.exec(toAnn)?.[1]
  const answer = `From: ${ann}\r\nMessage-ID: <a1@globex.example>\r\nIn-Reply-To: ${messageId}\r\n`
  const reading = gate()
  const entered = gate()
  const before = () => {
    entered.open()
    return reading.opened
  }
  watch(t, { mail: `${answer}Subject: Re: Hello\r\n\r\nYes, please call me.\r\n`, before })
  await entered.opened
  await sendFor(60)
  assert.equal(server.received.length, 2)

  reading.open()
  const reasons = async () => (await enrollments(outreach, id)).map(({ reason }) => reason)
  await until(async () => (await reasons()).includes('replied'), 'the answer to be read', patienceMs)
  await until(
    async () => {
      await sendFor(4)
      return server.received.length > 2
    },
    'the other follow-up',
    patienceMs,
  )
  await sendFor(60)
  assert.deepEqual(
    server.received.slice(2).map(({ to }) => to),
    [bob],
  )
})

test('a mailbox that cannot be read for long is told of, until it is read or deleted', async (t) => {
  const { account, mailbox, server } = await afterStop(t)
  let isAway = true
  const before = async () => {
    if (isAway) throw new MailboxFault('unreachable', 'nobody answers at imap.acme.example')
  }
  watch(t, { before })
  const notices = async () => {
    const { body } = await account.call('GET', '/api/v1/notices?open=true')
    return body.data.filter(({ code }: { code: string }) => code === 'mailbox_unread')
  }
  const told = await until(
    async () => {
      // Each try waits longer than the one before, on the clock of the test.
      clock.now = new Date(clock.now.getTime() + 60_000)
      const [notice] = await notices()
      return notice
    },
    'the notice',
    patienceMs,
  )
  assert.equal(told.subject, 'me@acme.example')
  assert.match(told.message, /nobody answers at imap\.acme\.example\. Its follow-ups wait/)
  assert.match(told.message, new RegExp(`PUT /v3/outreach/mailboxes/${mailbox}`))
  await sendFor(30)
  assert.equal(server.received.length, 2)
  isAway = false
  await until(
    async () => {
      clock.now = new Date(clock.now.getTime() + 60_000)
      return (await notices()).length === 0
    },
    'the end of the notice',
    patienceMs,
  )
})

test('a process that has no place for a mailbox says so, since its follow-ups wait', async (t) => {
  const { account, server } = await afterStop(t)
  await makeMailbox(account, server.port, { email: 'you@acme.example' })
  const warned: object[] = []
  const log = Object.assign(Object.create(engine.log), { warn: (about: object) => warned.push(about) })
  watch(t, { most: 1, log })
  await until(async () => warned.length > 0, 'the warning', patienceMs)
  const [{ watched, waiting }] = warned as [{ watched: number; waiting: number }]
  assert.ok(watched === 1 && waiting >= 1, `${watched} ${waiting}`)
})
