// Against another's idea of SES: aws-ses-v2-local, in a process of its own since it reads its account from the
// environment and writes to the console.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { openSesTransport, type SesTransport } from './ses.ts'

const account = {
  DedicatedIpAutoWarmupEnabled: false,
  Details: {
    AdditionalContactEmailAddresses: [],
    ContactLanguage: 'EN',
    MailType: 'TRANSACTIONAL',
    ReviewDetails: { CaseId: '1', Status: 'GRANTED' },
    UseCaseDescription: 'tests',
    WebsiteURL: 'https://posthorn.example',
  },
  EnforcementStatus: 'HEALTHY',
  ProductionAccessEnabled: true,
  SendingEnabled: true,
  SendQuota: { Max24HourSend: 1000, MaxSendRate: 5, SentLast24Hours: 1 },
  SuppressionAttributes: { SuppressedReasons: [] },
}

let emulator: ChildProcess
let endpoint = ''
let transport: SesTransport

before(async () => {
  const main = createRequire(import.meta.url).resolve('aws-ses-v2-local')
  const args = [path.join(path.dirname(main), 'cli.js'), '--host', '127.0.0.1', '--port', '0']
  emulator = spawn(process.execPath, args, { env: { AWS_SES_ACCOUNT: JSON.stringify(account) } })
  endpoint = await new Promise((found, lost) => {
    emulator.on('exit', () => lost(new Error('the emulator ended')))
    emulator.stdout?.on('data', (text) => {
      const port = /running at \S+:(\d+)/.exec(String(text))?.[1]
      if (port !== undefined) found(`http://127.0.0.1:${port}`)
    })
  })
  const credentials = { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'secret' }
  transport = await openSesTransport({ region: 'eu-west-3', endpoint, credentials })
})
after(async () => {
  await transport.close()
  emulator.kill()
})

test('a message arrives at the emulator', async () => {
  const outcome = await transport.send({
    id: 'm1',
    accountId: 'a1',
    envelopeFrom: 'bounce@sender.example',
    recipient: 'to@recipient.example',
    raw: Buffer.from(
      'From: Me <me@sender.example>\r\nTo: to@recipient.example\r\nSubject: Hello\r\n\r\nText\r\n',
    ),
    stream: 'transactional',
  })
  assert.equal(outcome.kind, 'accepted')
  const store = (await (await fetch(`${endpoint}/store`)).json()) as { emails: Record<string, unknown>[] }
  assert.equal(store.emails.length, 1)
  assert.equal(store.emails[0]?.subject, 'Hello')
  assert.equal(store.emails[0]?.messageId, outcome.upstreamId)
})

test('the account can be read and a call that it does not know is not found', async () => {
  await transport.verify()
  assert.deepEqual(await transport.quota(), { perSecond: 5, per24h: 1000, sentLast24h: 1 })
  await transport.unsuppress?.('to@recipient.example')
})
