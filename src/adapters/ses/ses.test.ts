import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import type { Handover, Outcome } from '../../kernel/ports.ts'
import { openSesTransport, type SesOptions } from './ses.ts'
import { type SesFailure, type SesStandIn, startSesStandIn } from './stand-in.ts'

const handover: Handover = {
  id: 'msg_0192aa',
  accountId: '0192-acc',
  envelopeFrom: 'bounce+0192@bounces.example',
  recipient: 'hidden@recipient.example',
  raw: Buffer.from(
    'From: a@sender.example\r\nTo: shown@recipient.example\r\nSubject: Hi\r\n\r\nHéllo\r\n',
    'latin1',
  ),
  stream: 'marketing',
}

let standIn: SesStandIn
before(async () => {
  standIn = await startSesStandIn()
})
after(() => standIn.close())
beforeEach(() => {
  standIn.sent.length = 0
  standIn.requests.length = 0
})

const open = (more: Partial<SesOptions> = {}) =>
  openSesTransport({
    region: 'eu-west-3',
    endpoint: standIn.endpoint,
    credentials: { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'secret' },
    configurationSet: 'posthorn',
    ...more,
  })

const sendThrough = async (failure: SesFailure | null, more: Partial<SesOptions> = {}): Promise<Outcome> => {
  const transport = await open(more)
  if (failure !== null) standIn.fail(failure)
  try {
    return await transport.send(handover)
  } finally {
    await transport.close()
  }
}

test('a message goes out as it is, to its one recipient, with our identifiers', async () => {
  const outcome = await sendThrough(null)
  const [sent] = standIn.sent
  assert.deepEqual(outcome, {
    kind: 'accepted',
    upstreamId: sent?.messageId,
    response: `Amazon SES took it as ${sent?.messageId}`,
  })
  assert.equal(sent?.raw, handover.raw.toString('latin1'))
  assert.deepEqual(sent?.recipients, ['hidden@recipient.example'])
  assert.deepEqual(sent?.tags, { posthorn_message: 'msg_0192aa', posthorn_account: '0192-acc' })
  assert.equal(sent?.configurationSet, 'posthorn')
  assert.equal(sent?.fromEmailAddress, null)
})

test('an identifier that SES would not take is left out and the message goes', async () => {
  const transport = await open()
  const outcome = await transport.send({ ...handover, accountId: 'a b/c' })
  await transport.close()
  assert.equal(outcome.kind, 'accepted')
  assert.deepEqual(standIn.sent[0]?.tags, { posthorn_message: 'msg_0192aa' })
})

test('it signs, takes marketing mail and says how much at once', async () => {
  const transport = await open({ concurrency: 3 })
  const { kind, signs, takesMarketing, concurrency } = transport
  assert.deepEqual(
    { kind, signs, takesMarketing, concurrency },
    { kind: 'ses', signs: true, takesMarketing: true, concurrency: 3 },
  )
  await transport.close()
})

const verdicts: [number, string, string, string][] = [
  [429, 'TooManyRequestsException', 'Too many requests', 'deferred transport 4.4.5 1000'],
  [400, 'ThrottlingException', 'Maximum sending rate exceeded.', 'deferred transport 4.4.5 1000'],
  [400, 'LimitExceededException', 'Limit exceeded', 'deferred transport 4.4.5 600000'],
  [400, 'TooManyRequestsException', 'Daily message quota exceeded.', 'deferred transport 4.4.5 600000'],
  [400, 'SendingPausedException', 'Account paused', 'deferred transport 4.3.2 600000'],
  [400, 'AccountSuspendedException', 'Account suspended', 'deferred transport 4.3.2 3600000'],
  [400, 'MailFromDomainNotVerifiedException', 'MAIL FROM is not ready', 'deferred message 4.1.8 600000'],
  [400, 'MessageRejected', 'Email address is not verified. x@y', 'deferred message 4.1.8 600000'],
  [404, 'NotFoundException', 'Configuration set posthorn does not exist', 'deferred transport 4.3.5 600000'],
  [400, 'BadRequestException', 'Configuration set <x> does not exist.', 'deferred transport 4.3.5 600000'],
  [403, 'UnrecognizedClientException', 'The security token is invalid', 'deferred transport 4.7.8 600000'],
  [403, 'AccessDeniedException', 'not authorized to perform', 'deferred transport 4.7.8 600000'],
  [403, 'InvalidSignatureException', 'Signature expired', 'deferred transport 4.7.8 600000'],
  [500, 'InternalServiceErrorException', 'oops', 'deferred message 4.3.0 -'],
  [500, 'ConcurrentModificationException', 'oops', 'deferred message 4.3.0 -'],
  [503, 'ServiceUnavailable', 'busy', 'deferred transport 4.3.2 10000'],
  [504, 'GatewayTimeout', 'late', 'uncertain - 4.4.2 300000'],
  [400, 'MessageRejected', 'Bad content', 'rejected - 5.6.0 -'],
  [400, 'BadRequestException', 'Missing final @domain', 'rejected - 5.5.4 -'],
  [413, 'RequestEntityTooLargeException', 'too large', 'rejected - 5.3.4 -'],
]

const summary = (outcome: Outcome) => {
  const { kind, fault = '-', enhancedCode = '-', retryAfterMs = '-' } = outcome as Record<string, unknown>
  return `${kind} ${fault} ${enhancedCode} ${retryAfterMs}`
}

test('each error of SES has its outcome, after one attempt', async () => {
  for (const [status, name, message, wanted] of verdicts) {
    standIn.requests.length = 0
    const outcome = await sendThrough({ status, name, message })
    assert.equal(summary(outcome), wanted, `${name}: ${message}`)
    assert.ok(outcome.kind !== 'accepted' && outcome.message.startsWith(`${name}: ${message}`), name)
    assert.equal(standIn.requests.length, 1, name)
  }
})

test('a page of a gateway is told by its status, not by what our client makes of it', async () => {
  const html = '<html><body>Bad Gateway</body></html>'
  const said = {
    400: 'deferred transport 4.3.5 600000',
    403: 'deferred transport 4.7.8 600000',
    407: 'deferred transport 4.3.5 600000',
    408: 'uncertain - 4.4.2 300000',
    413: 'rejected - 5.3.4 -',
    502: 'uncertain - 4.4.2 300000',
    503: 'deferred transport 4.3.2 10000',
  }
  for (const [status, wanted] of Object.entries(said)) {
    const outcome = await sendThrough({ status: Number(status), html })
    assert.equal(summary(outcome), wanted)
    assert.ok(outcome.kind !== 'accepted')
    assert.equal(outcome.message, `UnreadableAnswer: HTTP ${status}, not in the words of SES`)
  }
})

test('no answer, or a broken connection, leaves it uncertain, and nothing is tried again', async () => {
  assert.equal(summary(await sendThrough('hang', { timeoutMs: 300 })), 'uncertain - 4.4.2 300000')
  assert.equal(summary(await sendThrough('drop')), 'uncertain - 4.4.2 300000')
  assert.equal(standIn.requests.length, 2)
})

test('an answer that begins and does not go on is given up as well', { timeout: 30_000 }, async () => {
  assert.equal(summary(await sendThrough('stall', { timeoutMs: 300 })), 'uncertain - 4.4.2 300000')
  assert.equal(standIn.requests.length, 1)
})

test('where nothing listens, or the name is unknown, nothing was sent', async () => {
  const gone = createServer()
  await new Promise<void>((done) => gone.listen(0, '127.0.0.1', done))
  const { port } = gone.address() as AddressInfo
  await new Promise((done) => gone.close(done))
  const refused = await sendThrough(null, { endpoint: `http://127.0.0.1:${port}` })
  assert.equal(summary(refused), 'deferred transport 4.4.1 10000')
  const unknown = await sendThrough(null, { endpoint: 'http://nowhere.invalid' })
  assert.equal(summary(unknown), 'deferred transport 4.4.1 10000')
})

test('a message over the limit is refused here', async () => {
  const transport = await open()
  const outcome = await transport.send({ ...handover, raw: Buffer.alloc(30_000_001) })
  await transport.close()
  assert.equal(summary(outcome), 'rejected - 5.3.4 -')
  assert.equal(standIn.requests.length, 0)
})

test('the quota is read, kept for a while, and infinite where Amazon says -1', async () => {
  const transport = await open()
  assert.deepEqual(await transport.quota(), { perSecond: 14, per24h: 50_000, sentLast24h: 120 })
  await transport.quota()
  assert.deepEqual(standIn.requests, ['GET /v2/email/account'])
  await transport.close()
  standIn.account.SendQuota.Max24HourSend = -1
  const other = await open()
  assert.equal((await other.quota()).per24h, Number.POSITIVE_INFINITY)
  await other.close()
})

test('verification says what a person can do', async () => {
  const transport = await open()
  await transport.verify()
  standIn.fail({
    status: 403,
    name: 'UnrecognizedClientException',
    message: 'The security token is invalid.',
  })
  await assert.rejects(
    transport.verify(),
    /Amazon SES in eu-west-3 .*security token is invalid.*Check the region, the key/,
  )
  standIn.account.SendingEnabled = false
  await assert.rejects(transport.verify(), /paused/)
  standIn.account.EnforcementStatus = 'SHUTDOWN'
  await assert.rejects(transport.verify(), /closed sending/)
  await transport.close()
})

test('an address leaves the suppression list, and one that is not on it is no error', async () => {
  const transport = await open()
  standIn.suppressed.add('a+b@recipient.example')
  await transport.unsuppress?.('a+b@recipient.example')
  assert.equal(standIn.suppressed.size, 0)
  await transport.unsuppress?.('a+b@recipient.example')
  standIn.fail({ status: 429, name: 'TooManyRequestsException', message: 'slow down' })
  standIn.suppressed.add('again@recipient.example')
  await transport.unsuppress?.('again@recipient.example')
  assert.equal(standIn.suppressed.size, 0, 'a throttled management call is repeated')
  standIn.fail({ status: 403, name: 'AccessDeniedException', message: 'no' })
  await assert.rejects(async () => transport.unsuppress?.('x@y.example'), { name: 'AccessDeniedException' })
  await transport.close()
})

test('many hand-overs at once each get their own answer', async () => {
  const transport = await open({ concurrency: 5 })
  const outcomes = await Promise.all(Array.from({ length: 40 }, () => transport.send(handover)))
  const ids = outcomes.map((outcome) => outcome.kind === 'accepted' && outcome.upstreamId)
  assert.equal(new Set(ids).size, 40)
  await transport.close()
})
