// Sending domains where the upstream signs: what it asks for, what DNS says, and whose domain it is.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startScalewayStandIn } from '../../src/adapters/scaleway/stand-in.ts'
import { startSesStandIn } from '../../src/adapters/ses/stand-in.ts'
import { diagnosing } from '../../src/features/deliverability/fixtures/diagnosing.ts'
import {
  type Body,
  type DomainApp,
  makeDomainApp,
  recordOf,
} from '../../src/features/domains/fixtures/app.ts'
import { removeUpstream } from '../../src/features/domains/remove-upstream.ts'
import { captureTransport } from '../../src/features/messages/capture.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { sql } from '../../src/kernel/sql.ts'
import { readConfig } from '../../src/main/config.ts'
import { openTransport } from '../../src/main/transports.ts'

const ses = await startSesStandIn()
const scaleway = await startScalewayStandIn()
after(() => Promise.all([ses.close(), scaleway.close()]))

const throughSes = await makeDomainApp({
  env: {
    POSTHORN_TRANSPORT: 'ses://eu-west-3',
    POSTHORN_AWS_ENDPOINT: ses.endpoint,
    AWS_ACCESS_KEY_ID: 'AKIAEXAMPLE',
    AWS_SECRET_ACCESS_KEY: 'secret',
  },
})
throughSes.zone['amazonses.com TXT'] = ['v=spf1 ip4:192.0.2.2 -all']

const throughScaleway = await makeDomainApp({
  env: {
    POSTHORN_TRANSPORT: 'scaleway://fr-par',
    POSTHORN_SCALEWAY_ENDPOINT: scaleway.endpoint,
    SCW_SECRET_KEY: scaleway.secretKey,
    SCW_DEFAULT_PROJECT_ID: scaleway.projectId,
  },
})
throughScaleway.zone['_spf.tem.scaleway.com TXT'] = ['v=spf1 ip4:192.0.2.3 -all']

const shown = (body: Body) =>
  body.records.map(
    ({ role, type, host, required }: Body) => `${role} ${type} ${host}${required ? '' : ' (may)'}`,
  )

test('Amazon SES: three aliases, a return path and the account’s own proof', async () => {
  const app = throughSes
  const { status, body } = await app.declare('shop.example')
  assert.equal(status, 201)
  const tokens = ses.identities.get('shop.example')?.DkimAttributes.Tokens ?? []
  assert.deepEqual(shown(body), [
    ...tokens.map((token) => `dkim CNAME ${token}._domainkey.shop.example`),
    'return_path MX bounce.shop.example (may)',
    'spf TXT bounce.shop.example (may)',
    'dmarc TXT _dmarc.shop.example',
    'verification TXT _posthorn-challenge.shop.example',
  ])
  assert.equal(recordOf(body, 'dkim').value, `${tokens[0]}.zone.dkim.stand-in.example`)
  assert.equal(recordOf(body, 'return_path').value, '10 feedback-smtp.eu-west-3.amazonses.com')

  app.publish(body.records)
  const waiting = await app.verify('shop.example')
  assert.deepEqual([waiting.status, waiting.dkim.state], ['pending', 'ok'], 'Amazon has not seen it yet')
  assert.equal(waiting.dkim.remarks.at(-1).code, 'upstream_not_ready')
  const said = /Amazon SES says of the DKIM records of shop\.example: PENDING\./
  const asked = await app.call('PUT', '/v3/senders/domains/shop.example/authenticate')
  assert.match(asked.body.message, /^Domain is not authenticated yet\. Amazon SES says/)
  const { findings } = (await app.call('GET', '/api/v1/deliverability/diagnose?domain=shop.example')).body
  const { message } = findings.find(({ code }: Body) => code === 'domain_not_verified')
  assert.match(message, said)
  assert.doesNotMatch(message, /publish/)
  const identity = ses.identities.get('shop.example')
  assert.ok(identity)
  identity.DkimAttributes.Status = 'SUCCESS'
  const verified = await app.verify('shop.example')
  assert.equal(verified.status, 'verified')
  for (const record of verified.records) assert.equal(record.state, 'ok', record.role)
})

test('Amazon SES: what another account proved is not mine', async () => {
  const app = throughSes
  const other = await app.makeAccount()
  const { body } = await app.declare('shop.example', other.key)
  assert.deepEqual([body.status, body.dkim.state], ['pending', 'ok'])
  app.publish(body.records, 'verification')
  assert.equal((await app.verify('shop.example', other.key)).status, 'verified')
  const rotation = await app.call('POST', '/api/v1/domains/shop.example/dkim/rotate')
  assert.deepEqual([rotation.status, rotation.body.error.code], [422, 'upstream_signs'])
})

test('Amazon SES: the diagnosis names a return path that is not as it should be, until it is', async () => {
  const app = throughSes
  const wrong = { missing: undefined, mismatch: [{ exchange: 'mail.elsewhere.example', priority: 10 }] }
  for (const [state, records] of Object.entries(wrong)) {
    const { key, must, follow } = await diagnosing(app).setUp()
    const domain = `${state}.return.example`
    const { body } = await app.declare(domain, key)
    const identity = ses.identities.get(domain)
    assert.ok(identity)
    identity.DkimAttributes.Status = 'SUCCESS'
    app.publish(body.records)
    const name = `bounce.${domain} MX`
    const right = app.zone[name]
    if (records) app.zone[name] = records
    else delete app.zone[name]
    assert.equal((await app.verify(domain, key)).status, 'verified')
    const finding = await must(`return_path_${state}`)
    assert.deepEqual([finding.severity, finding.domain], ['info', domain])
    if (right) app.zone[name] = right
    await follow(finding.code, finding)
  }
})

test('Amazon SES: while it cannot be asked nothing is declared, and what is known stays', async () => {
  const app = throughSes
  const fault = { status: 400, name: 'BadRequestException', message: 'no' }
  ses.fail(fault, fault, fault)
  const refused = await app.declare('new.example')
  assert.deepEqual([refused.status, refused.body.error.code], [503, 'upstream_unavailable'])
  assert.equal((await app.verify('shop.example')).status, 'verified')
  ses.fail(fault)
  assert.equal((await app.verify('shop.example')).status, 'verified')
  const identity = ses.identities.get('shop.example')
  assert.ok(identity)
  identity.DkimAttributes.Status = 'TEMPORARY_FAILURE'
  assert.equal((await app.verify('shop.example')).status, 'verified')
  identity.DkimAttributes.Status = 'FAILED'
  assert.equal((await app.verify('shop.example')).status, 'failed')
})

test('Scaleway: the records that it names, and a mail server only where there is none', async () => {
  const app = throughScaleway
  const { body } = await app.declare('post.example')
  assert.deepEqual(shown(body), [
    `dkim TXT ${scaleway.projectId}._domainkey.post.example`,
    'spf TXT post.example',
    'dmarc TXT _dmarc.post.example',
    'return_path MX post.example (may)',
    'verification TXT _posthorn-challenge.post.example',
  ])
  app.publish(body.records, 'dkim', 'spf', 'dmarc', 'verification')
  app.zone['post.example MX'] = [{ exchange: 'mx.post.example', priority: 5 }]
  const waiting = await app.verify('post.example')
  assert.equal(waiting.status, 'pending')
  assert.match(waiting.dkim.remarks.at(-1).message, /unchecked/)
  const [known] = scaleway.domains.filter(({ name }) => name === 'post.example')
  assert.ok(known)
  known.status = 'checked'
  const verified = await app.verify('post.example')
  assert.equal(verified.status, 'verified')
  for (const record of verified.records) assert.equal(record.state, 'ok', record.role)
  known.status = 'locked'
  assert.equal((await app.verify('post.example')).status, 'failed')
})

/** What the worker does, through the transport that the service is set to. */
async function remove({ env, pools }: DomainApp): Promise<void> {
  const transport = await openTransport(
    readConfig(env),
    captureTransport(pools.db, () => new Date()),
  )
  await removeUpstream({ db: pools.db, log: silentLog, transport })
  await transport.close()
}

const dueNow = ({ pools }: DomainApp) =>
  pools.db.run(sql`-- all accounts: the test waits for nobody
    update upstream_removals set due_at = now()`)

test('Amazon SES: a domain that is declared again while another is given up stays', async () => {
  const app = throughSes
  const names = ['first-out.example', 'stays.example']
  for (const name of names) await app.declare(name)
  for (const name of names) assert.equal((await app.call('DELETE', `/api/v1/domains/${name}`)).status, 200)
  const given: string[] = []
  const transport = {
    removeIdentity: async (domain: string) => {
      given.push(domain)
      await app.declare('stays.example')
    },
  }
  await removeUpstream({ db: app.pools.db, log: silentLog, transport })
  assert.deepEqual(given, ['first-out.example'])
})

test('Amazon SES: a domain that was deleted and declared again is given up when it is deleted again', async () => {
  const app = throughSes
  const drop = () => app.call('DELETE', '/api/v1/domains/again.example')
  await app.declare('again.example')
  await drop()
  await app.declare('again.example')
  await remove(app)
  assert.ok(ses.identities.has('again.example'))
  await app.verify('again.example')
  await drop()
  await remove(app)
  assert.ok(!ses.identities.has('again.example'))
})

test('Amazon SES: a domain is given up with the last account that has it, and tried again until then', async () => {
  const app = throughSes
  const other = await app.makeAccount()
  const drop = (key = app.key) => app.call('DELETE', '/api/v1/domains/left.example', { key })
  await app.declare('left.example')
  await app.declare('left.example', other.key)
  await app.verify('left.example')
  assert.equal((await drop()).status, 200)
  await remove(app)
  assert.ok(ses.identities.has('left.example'), 'the other account sends from it')
  assert.equal((await drop(other.key)).status, 200)
  ses.fail({ status: 400, name: 'BadRequestException', message: 'no' })
  await remove(app)
  assert.ok(ses.identities.has('left.example'))
  await remove(app)
  assert.ok(ses.identities.has('left.example'), 'not before its time')
  await dueNow(app)
  await remove(app)
  assert.ok(!ses.identities.has('left.example'))
  await dueNow(app)
  const asked = ses.requests.length
  await remove(app)
  assert.equal(ses.requests.length, asked)
})

test('Amazon SES: what was there before stays, and what is declared again', async () => {
  const app = throughSes
  const DkimAttributes = { Status: 'SUCCESS', Tokens: ['a'], SigningHostedZone: 'zone.example' }
  ses.identities.set('theirs.example', { DkimAttributes })
  for (const domain of ['theirs.example', 'back.example']) {
    await app.declare(domain)
    assert.equal((await app.call('DELETE', `/api/v1/domains/${domain}`)).status, 200)
  }
  await app.declare('back.example')
  await remove(app)
  assert.ok(ses.identities.has('theirs.example') && ses.identities.has('back.example'))
})

test('Scaleway: a domain is revoked', async () => {
  const app = throughScaleway
  await app.declare('left.example')
  await app.call('DELETE', '/v3/senders/domains/left.example')
  await remove(app)
  const states = scaleway.domains.filter(({ name }) => name === 'left.example').map(({ status }) => status)
  assert.deepEqual(states, ['revoked'])
})
