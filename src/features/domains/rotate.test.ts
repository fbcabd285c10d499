import assert from 'node:assert/strict'
import { Resolver } from 'node:dns/promises'
import { test } from 'node:test'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { makeApp } from '../../../test/app.ts'
import { until } from '../../../test/until.ts'
import { dkimKeyFinder } from '../messages/dkim-keys.ts'
import { signMail } from '../messages/mime/dkim.ts'
import { type Body, makeDomainApp, type Published } from './fixtures/app.ts'

const app = await makeDomainApp()
const { zone } = app
const resolver = new Resolver()
resolver.setServers([app.env.POSTHORN_DNS ?? ''])

const mail = 'From: shop@turns.example\r\nTo: anna@reader.example\r\nSubject: Hi\r\n\r\nHello.\r\n'
const rotate = (domain: string) => app.call('POST', `/api/v1/domains/${domain}/dkim/rotate`)
const keysIn = (body: Body): Published[] => body.records.filter(({ role }: Published) => role === 'dkim')
const selectorOf = ({ host }: Published) => host.split('.')[0] ?? ''

/** Selectors and verdicts of the signatures, as a receiver with the same DNS sees them. */
async function verdicts(raw: string | Buffer): Promise<string[]> {
  const { results } = await dkimVerify(Buffer.from(raw), {
    resolver: (name: string, type: string) => resolver.resolve(name, type as 'TXT'),
  })
  return results.map(({ selector, status }) => `${selector} ${status.result}`)
}

/** What a process that has nothing in memory signs with. */
async function signedNow(domain = 'turns.example'): Promise<string[]> {
  const keys = await dkimKeyFinder({ db: app.pools.db, secretKeys: app.needs.secretKeys })(
    app.accountId,
    domain,
  )
  return keys.length === 0 ? [] : verdicts(await signMail(Buffer.from(mail), keys, { at: app.clock.now }))
}

test('a key signs once DNS shows it, and a rotation never leaves a message that cannot be checked', async () => {
  const { body } = await app.declare('turns.example')
  const [first] = keysIn(body)
  assert.ok(first)
  assert.deepEqual(await signedNow(), [])
  app.publish(body.records)
  await app.verify('turns.example')
  assert.deepEqual(await signedNow(), [`${selectorOf(first)} pass`])

  const rotation = await rotate('turns.example')
  assert.equal(rotation.status, 200)
  const [old, next] = keysIn(rotation.body)
  assert.ok(old && next)
  assert.equal(old.host, first.host)
  assert.notEqual(next.value, first.value)
  assert.deepEqual(keysIn((await rotate('turns.example')).body).map(selectorOf), [old, next].map(selectorOf))
  await app.verify('turns.example')
  assert.deepEqual(await signedNow(), [`${selectorOf(first)} pass`], 'the old one until the new one is seen')

  app.publish([next])
  const turned = await app.verify('turns.example')
  assert.equal(turned.status, 'verified')
  assert.deepEqual(await signedNow(), [`${selectorOf(next)} pass`])
  const retired = turned.records.find(({ host }: Published) => host === first.host)
  assert.equal(retired.required, false)
  assert.match(retired.explanation, /Keep its record until 2026-11-22/)

  const [captured] = await verdicts(await delivered())
  assert.equal(captured, `${selectorOf(next)} pass`)
})

/** A message through the whole service, in a process that starts now. */
async function delivered(): Promise<string> {
  const other = await makeApp({ databaseUrl: app.databaseUrl, env: app.env, deliver: true })
  const body = { from: 'shop@turns.example', to: 'anna@reader.example', subject: 'Hi', text: 'Hello.' }
  const { key } = app
  await other.call('POST', '/api/v1/transactional/send', { key, body })
  const found = await until(async () => {
    const { body: list } = await other.call('GET', '/api/v1/sandbox/messages?to=anna@reader.example', { key })
    return list.data[0]
  }, 'the message to be captured')
  return (await other.call('GET', `/api/v1/sandbox/messages/${found.id}/raw`, { key })).text
}

test('the old record may go after a week without anything breaking', async () => {
  const [, retired] = keysIn(await app.read('turns.example'))
  assert.ok(retired)
  app.later(6 * 24)
  delete zone[`${retired.host} TXT`]
  await app.recheck()
  const kept = await app.read('turns.example')
  assert.equal(keysIn(kept).length, 2, 'kept for a week')
  const gone = kept.records.find(({ host }: Published) => host === retired.host)
  assert.deepEqual(
    [gone.state, gone.explanation],
    ['missing', `${retired.host} has no record and needs none: this key no longer signs.`],
  )
  app.later(2 * 24)
  await app.recheck()
  const body = await app.read('turns.example')
  assert.deepEqual([body.status, keysIn(body).length], ['verified', 1])
  const { body: notices } = await app.call('GET', '/api/v1/notices?open=true')
  assert.deepEqual(notices.data, [])
})

test('a key whose record is gone no longer signs, and does again when it is back', async () => {
  const [current] = keysIn(await app.read('turns.example'))
  assert.ok(current)
  const name = `${current.host} TXT`
  const kept = zone[name]
  assert.ok(kept)
  delete zone[name]
  await app.verify('turns.example')
  assert.deepEqual(await signedNow(), [])
  zone[name] = 'fails'
  await app.verify('turns.example')
  assert.deepEqual(await signedNow(), [])
  zone[name] = kept
  await app.verify('turns.example')
  assert.deepEqual(await signedNow(), [`${selectorOf(current)} pass`])
  zone[name] = 'fails'
  await app.verify('turns.example')
  zone[name] = kept
  assert.deepEqual(await signedNow(), [`${selectorOf(current)} pass`], 'an outage changes nothing')
})

test('while DNS does not show the key that took over, the one before it signs', async () => {
  const domain = 'flaps.example'
  const shown = async (body: Body) => keysIn(body).map(({ host }) => (zone[`${host} TXT`] ? 'there' : 'gone'))
  const { body } = await app.declare(domain)
  app.publish(body.records)
  await app.verify(domain)
  const [first, next] = keysIn((await rotate(domain)).body)
  assert.ok(first && next)
  app.publish([next])
  assert.deepEqual(await shown(await app.verify(domain)), ['there', 'there'])
  assert.deepEqual(await signedNow(domain), [`${selectorOf(next)} pass`])

  // A name server that has not got it yet.
  const kept = zone[`${next.host} TXT`]
  assert.ok(kept)
  delete zone[`${next.host} TXT`]
  const without = await app.verify(domain)
  assert.deepEqual(await signedNow(domain), [`${selectorOf(first)} pass`])
  assert.deepEqual([without.status, without.dkim.state], ['verified', 'ok'])
  const again = without.records.find(({ host }: Published) => host === first.host)
  assert.match(again.explanation, /This key signs again: DNS shows it, and not the one that took over/)
  const { body: told } = await app.call('GET', '/api/v1/notices?open=true')
  const [notice] = told.data.filter(({ subject }: Body) => subject === domain)
  assert.deepEqual(
    notice.details.records.map(({ host }: Body) => host),
    [next.host],
  )
  const { body: diagnosis } = await app.call('GET', `/api/v1/deliverability/diagnose?domain=${domain}`)
  const [finding] = diagnosis.findings.filter(({ code }: Body) => code.startsWith('dkim'))
  assert.deepEqual([finding.code, finding.severity], ['dkim_missing', 'warning'])

  zone[`${next.host} TXT`] = kept
  const back = await app.verify(domain)
  assert.deepEqual(await signedNow(domain), [`${selectorOf(next)} pass`])
  const rests = back.records.find(({ host }: Published) => host === first.host)
  assert.match(rests.explanation, /This key no longer signs/)
  delete zone[`${next.host} TXT`]
  delete zone[`${first.host} TXT`]
  assert.equal((await app.verify(domain)).status, 'failed')
  assert.deepEqual(await signedNow(domain), [])
})

test('only a declared domain has a key to rotate, and deleting it takes the keys away', async () => {
  assert.equal((await rotate('unknown.example')).status, 404)
  await app.call('DELETE', '/api/v1/domains/turns.example')
  assert.deepEqual(await signedNow(), [])
})
