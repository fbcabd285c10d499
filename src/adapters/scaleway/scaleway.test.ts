import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Handover, Outcome, Transport } from '../../kernel/ports.ts'
import type { HttpRequest } from './api.ts'
import { openScalewayTransport, type ScalewayOptions } from './scaleway.ts'
import { type ScalewayFailure, type ScalewayStandIn, startScalewayStandIn } from './stand-in.ts'

let standIn: ScalewayStandIn
before(async () => {
  standIn = await startScalewayStandIn()
})
after(() => standIn.close())
beforeEach(() => {
  standIn.sent.length = 0
  standIn.requests.length = 0
  standIn.blocklists.length = 0
})

const request: HttpRequest = async ({ url, method, headers, body }) => {
  const answer = await fetch(url, { method, headers, body, signal: AbortSignal.timeout(1500) })
  const read = Object.fromEntries(answer.headers)
  return { status: answer.status, headers: read, body: Buffer.from(await answer.arrayBuffer()) }
}

const open = (more: Partial<ScalewayOptions> = {}) => {
  const { region, projectId, secretKey, endpoint } = standIn
  return openScalewayTransport({ region, projectId, secretKey, endpoint, request, ...more })
}

const handover: Handover = {
  id: 'msg_1',
  accountId: 'acc_1',
  envelopeFrom: 'bounce@sender.example',
  recipient: 'to@recipient.example',
  raw: Buffer.from(
    'From: Me <me@sender.example>\r\nTo: to@recipient.example\r\nSubject: Your order has left\r\n' +
      'Content-Type: text/plain; charset=utf-8\r\n\r\nIt is on its way.\r\n',
  ),
  stream: 'transactional',
}
const short = { ...handover, raw: Buffer.from(handover.raw.toString().replace('Your order has left', 'Hi')) }

const summary = (outcome: Outcome) => {
  const { kind, fault = '-', enhancedCode = '-', retryAfterMs = '-' } = outcome as Record<string, unknown>
  return `${kind} ${fault} ${enhancedCode} ${retryAfterMs}`
}

const relay = () => {
  const taken: Handover[] = []
  const calls: string[] = []
  const smtp: Transport = {
    kind: 'smtp',
    signs: true,
    takesMarketing: true,
    concurrency: 1,
    send: async (each) => {
      taken.push(each)
      return { kind: 'accepted', upstreamId: null, response: '250 2.0.0 OK' }
    },
    verify: async () => void calls.push('verify'),
    close: async () => void calls.push('close'),
  }
  return { smtp, taken, calls }
}

test('a message goes out by the interface', async () => {
  const outcome = await open().send(handover)
  const [sent] = standIn.sent
  assert.equal(outcome.kind === 'accepted' && outcome.upstreamId, sent?.id)
  assert.deepEqual(sent?.to, [{ email: 'to@recipient.example' }])
  assert.equal(sent?.subject, 'Your order has left')
  assert.equal(sent?.project_id, standIn.projectId)
  assert.deepEqual(sent?.additional_headers, [{ key: 'X-Posthorn-Message', value: 'msg_1' }])
  assert.deepEqual(standIn.requests, ['POST /transactional-email/v1alpha1/regions/fr-par/emails'])
})

test('it signs and takes no marketing mail', async () => {
  const { smtp, taken } = relay()
  const transport = open({ smtp })
  assert.deepEqual([transport.kind, transport.signs, transport.takesMarketing], ['scaleway', true, false])
  const outcome = await transport.send({ ...handover, stream: 'marketing' })
  assert.equal(summary(outcome), 'rejected - 5.7.1 -')
  assert.ok(
    outcome.kind === 'rejected' &&
      outcome.smtpCode === 550 &&
      /transactional mail only/.test(outcome.message),
  )
  assert.equal(standIn.requests.length + taken.length, 0)
})

test('what the interface cannot carry goes by SMTP, with our reference', async () => {
  const { smtp, taken, calls } = relay()
  const transport = open({ smtp })
  assert.equal((await transport.send(short)).kind, 'accepted')
  assert.equal(taken[0]?.raw.toString(), `X-Posthorn-Message: msg_1\r\n${short.raw}`)
  assert.equal(standIn.requests.length, 0)
  await transport.verify()
  await transport.close()
  assert.deepEqual(calls, ['verify', 'close'])
})

test('without SMTP it is rejected with the reason', async () => {
  const outcome = await open().send(short)
  assert.equal(summary(outcome), 'rejected - 5.6.0 -')
  assert.ok(outcome.kind === 'rejected' && /subject has less than 10 characters/.test(outcome.message))
})

const verdicts: [ScalewayFailure, string][] = [
  [{ status: 400, type: 'invalid_arguments', message: 'bad' }, 'rejected - 5.5.4 -'],
  [{ status: 401, type: 'denied_authentication', message: 'no' }, 'deferred transport 4.7.8 600000'],
  [{ status: 403, type: 'permissions_denied', message: 'no' }, 'deferred message 4.1.8 600000'],
  [{ status: 403, type: 'quotas_exceeded', message: 'no' }, 'deferred transport 4.4.5 600000'],
  [{ status: 404, type: 'not_found', message: 'domain' }, 'deferred message 4.1.8 600000'],
  [{ status: 412, type: 'precondition_failed', message: 'domain' }, 'deferred message 4.1.8 600000'],
  [{ status: 413, type: 'too_large', message: 'x' }, 'rejected - 5.3.4 -'],
  [{ status: 423, type: 'locked', message: 'domain' }, 'deferred message 4.1.8 600000'],
  [{ status: 429, type: 'too_many_requests', message: 'x' }, 'deferred transport 4.4.5 1000'],
  [{ status: 429, type: '', message: 'x', headers: { 'retry-after': '7' } }, 'deferred transport 4.4.5 7000'],
  [{ status: 500, type: 'internal', message: 'x' }, 'deferred message 4.3.0 -'],
  [{ status: 502, type: '', message: 'x' }, 'uncertain - 4.4.2 300000'],
  [{ status: 503, type: '', message: 'x' }, 'deferred transport 4.3.2 10000'],
  [{ status: 504, type: '', message: 'x' }, 'uncertain - 4.4.2 300000'],
  ['hang', 'uncertain - 4.4.2 300000'],
  ['drop', 'uncertain - 4.4.2 300000'],
]

test('each error has its outcome, after one attempt', async () => {
  for (const [failure, wanted] of verdicts) {
    standIn.requests.length = 0
    standIn.fail(failure)
    const outcome = await open().send(handover)
    assert.equal(summary(outcome), wanted, JSON.stringify(failure))
    assert.equal(standIn.requests.length, 1)
  }
})

test('an error names what Scaleway does not like', async () => {
  const wrong = { ...handover, raw: Buffer.from(handover.raw.toString().replace('me@sender', 'me@other')) }
  const outcome = await open().send(wrong)
  assert.ok(
    outcome.kind === 'deferred' &&
      outcome.message === 'Scaleway: HTTP 403, permissions_denied, the domain is not checked',
  )
})

test('a failure before anything was sent is no uncertainty', async () => {
  const failing = (fields: object) => async () => {
    throw Object.assign(new Error('no\nway'), fields)
  }
  for (const fields of [{ reached: false }, { code: 'ECONNREFUSED' }]) {
    assert.equal(
      summary(await open({ request: failing(fields) }).send(handover)),
      'deferred transport 4.4.1 10000',
    )
  }
  for (const fields of [{ reached: true }, { code: 'ECONNRESET' }, {}]) {
    assert.equal(summary(await open({ request: failing(fields) }).send(handover)), 'uncertain - 4.4.2 300000')
  }
})

test('a success without a readable body is still a success', async () => {
  for (const body of ['', '[]', 'null', '{"emails":[]}', '{"emails":[{"id":7}]}', '<html>']) {
    const odd: HttpRequest = async () => ({ status: 200, headers: {}, body: Buffer.from(body) })
    const outcome = await open({ request: odd }).send(handover)
    assert.ok(outcome.kind === 'accepted' && outcome.upstreamId === null, body)
  }
})

test('verification says what a person can do', async () => {
  await open().verify()
  await assert.rejects(
    open({ secretKey: 'wrong' }).verify(),
    /Scaleway refuses us .*denied.*check the secret key/,
  )
  await assert.rejects(open({ endpoint: 'http://nowhere.invalid' }).verify(), /cannot be reached/)
})

test('an address leaves the blocklists of all domains, and no other does', async () => {
  const project_id = standIn.projectId
  const domains = Array.from({ length: 120 }, (_, i) => ({
    id: `d${i}`,
    name: `d${i}.example`,
    status: 'checked',
    project_id,
  }))
  standIn.domains.push(...domains)
  const entry = (id: string, domain_id: string, email: string) => ({
    id,
    domain_id,
    email,
    type: 'mailbox_full',
  })
  standIn.blocklists.push(
    entry('1', 'd0', 'to@r.example'),
    entry('2', 'd119', 'to@r.example'),
    entry('3', 'd0', 'not-to@r.example'),
  )
  await open().unsuppress?.('to@r.example')
  assert.deepEqual(
    standIn.blocklists.map(({ id }) => id),
    ['3'],
  )
  standIn.domains.length = 1
})

test('an entry that is gone, or one too many for today, is no error', async () => {
  const domain_id = standIn.domains[0]?.id ?? ''
  standIn.blocklists.push({ id: '1', domain_id, email: 'to@r.example', type: 'mailbox_full' })
  const listed =
    (failure: ScalewayFailure): HttpRequest =>
    async (options) => {
      if (options.method === 'DELETE') standIn.fail(failure)
      return request(options)
    }
  const refusals = [
    { status: 404, type: 'not_found', message: 'x' },
    { status: 403, type: 'quotas_exceeded', message: 'x' },
    { status: 429, type: 'too_many_requests', message: 'x' },
  ]
  for (const failure of refusals) await open({ request: listed(failure) }).unsuppress?.('to@r.example')
  const broken = open({ request: listed({ status: 500, type: 'internal', message: 'x' }) })
  await assert.rejects(async () => broken.unsuppress?.('to@r.example'), /could not be deleted/)
})
