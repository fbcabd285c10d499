// Servers of a mailbox whose certificate nobody vouches for, and the same servers once the operator does.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { SMTPServer } from 'smtp-server'
import { type Certificate, certificateFor } from '../../src/adapters/smtp-transport/fixtures/sending.ts'
import {
  env,
  makeMailbox,
  makeOutreach,
  makeProspects,
  makeSequence,
  run,
} from '../../src/features/outreach/fixtures/outreach.ts'
import { kill, startWorker } from '../faults/worker.ts'
import { query } from '../processes/empty-database.ts'
import { dovecotForTests, password, withoutDovecot } from '../stand-ins/dovecot.ts'
import { until } from '../until.ts'

const patienceMs = 30_000
const ann = 'ann@globex.example'
const outreach = await makeOutreach()
const { app, clock } = outreach
// A Monday that is over: a mail server files nothing under a time to come.
clock.now = new Date('2025-11-17T08:00:00Z')

type Mail = { text: string; secure: boolean }

async function openSmtp(t: TestContext, certificate: Certificate) {
  const mails: Mail[] = []
  const server = new SMTPServer({
    ...certificate,
    secure: true,
    onAuth: ({ username }, _, done) => done(null, { user: username ?? '' }),
    onData: (stream, { secure }, done) => {
      let text = ''
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1')
      })
      stream.on('end', () => {
        mails.push({ text, secure })
        done()
      })
    },
  })
  server.on('error', () => {})
  const listener = server.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  t.after(() => server.close())
  return { mails, port: (listener.address() as AddressInfo).port }
}

async function fileOf(t: TestContext, text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-ca-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'ca.pem')
  await writeFile(file, text)
  return file
}

test('a certificate of one’s own is refused in words, until the operator vouches for it', {
  skip: withoutDovecot,
}, async (t) => {
  const certificate = await certificateFor('localhost')
  const [smtp, dovecot] = [await openSmtp(t, certificate), await dovecotForTests(certificate)]
  const account = await outreach.makeAccount()
  const at = (port: number) => ({ host: 'localhost', port, secure: true, user: 'me', password })
  const id = await makeMailbox(account, 1, { smtp: at(smtp.port), imap: at(dovecot.securePort) })
  const path = `/v3/outreach/mailboxes/${id}`
  const { body } = await account.call('GET', path)
  assert.deepEqual([body.state, body.health.state], ['paused', 'failing'])
  assert.match(body.health.lastError, /SMTP.*the certificate of localhost:\d+ is not trusted: self-signed/)
  const tested = (await account.call('POST', `${path}/test`)).body
  assert.match(tested.imap.error, /^the certificate of localhost is not trusted: self-signed/)

  assert.equal((await account.call('PUT', path, { state: 'active' })).status, 204)
  await makeProspects(account, [ann])
  const sequence = await makeSequence(account, [id])
  await run(account, sequence, [ann])
  const due = 'update outreach_enrollments set planned_at = $2, mailbox_id = $3 where sequence_id = $1'
  await query(app.databaseUrl, due, [sequence, clock.now, id])
  const trusting = {
    ...env,
    NODE_EXTRA_CA_CERTS: await fileOf(t, certificate.cert),
    OUTREACH_NOW: new Date(clock.now.getTime() + 600_000).toISOString(),
  }
  const workers = await Promise.all(
    ['send', 'watch'].map((does) =>
      startWorker('outreach-worker.ts', app.databaseUrl, { ...trusting, OUTREACH_DOES: does }),
    ),
  )
  await until(async () => smtp.mails.length === 1, 'the message', patienceMs)
  assert.equal(smtp.mails[0]?.secure, true)
  const messageId = /^Message-ID: (\S+)/im.exec(smtp.mails[0]?.text ?? '')?.[1]
  const answer = [`From: ${ann}`, 'Subject: Re: Hello', `In-Reply-To: ${messageId}`, '', 'Not for us.', '']
  await dovecot.append('me', answer.join('\r\n'), { at: clock.now })
  const inbox = async () => (await account.call('GET', '/v3/outreach/inbox')).body.count === 1
  await until(inbox, 'the answer', patienceMs)
  for (const worker of workers) await kill(worker)
  const { body: well } = await account.call('GET', path)
  assert.deepEqual([well.health.state, well.health.lastError], ['ok', null])
})
