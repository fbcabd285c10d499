import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { findDomainState, findDomains, servedDomains } from './domain-states.ts'
import { type Body, makeDomainApp, recordOf } from './fixtures/app.ts'
import { checkDomain, keepCheck } from './verify-domain.ts'

const app = await makeDomainApp()
const { zone, accountId } = app
const { db } = app.pools

const statesOf = (body: Body) => [body.spf.state, body.dkim.state, body.dmarc.state]

async function declared(domain: string): Promise<Body> {
  return (await app.declare(domain)).body
}

test('published as asked for, every record is ok and the domain verified', async () => {
  const { records } = await declared('fine.example')
  app.publish(records)
  const body = await app.verify('fine.example')
  assert.equal(body.status, 'verified')
  assert.deepEqual(statesOf(body), ['ok', 'ok', 'ok'])
  for (const record of body.records) assert.equal(record.state, 'ok', record.role)
  assert.equal(body.verified_at, app.clock.now.toISOString())
  assert.equal(body.dmarc.policy, 'none')
  assert.equal(body.dmarc.found_at, 'fine.example')
  assert.deepEqual(body.dmarc.alignment, { dkim: 'relaxed', spf: 'relaxed' })
  const asked = ['fine.example', 'sub.fine.example'].map((domain) => ({ accountId, domain }))
  assert.deepEqual(asked.map(await servedDomains(db, asked)), [true, false])
})

test('the key alone makes it verified, the token alone does not', async () => {
  const { records } = await declared('half.example')
  app.publish(records, 'verification')
  assert.equal((await app.verify('half.example')).status, 'pending')
  app.publish(records, 'dkim')
  assert.equal((await app.verify('half.example')).status, 'verified')
})

test('each wrong record is told for what it is', async () => {
  const { records } = await declared('wrong.example')
  app.publish(records)
  const dkimHost = `${recordOf({ records }, 'dkim').host} TXT`
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const other = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')

  zone[dkimHost] = [`v=DKIM1; k=rsa; p=${other}`]
  zone['wrong.example TXT'] = ['v=spf1 include:_spf.other.example ~all']
  zone['_spf.other.example TXT'] = ['v=spf1 -all']
  zone['_dmarc.wrong.example TXT'] = ['v=DMARC1; p=none', 'v=DMARC1; p=reject']
  const mismatched = await app.verify('wrong.example')
  assert.deepEqual(statesOf(mismatched), ['mismatch', 'mismatch', 'multiple'])
  assert.equal(mismatched.status, 'pending')
  const spf = recordOf(mismatched, 'spf')
  assert.deepEqual(spf.found, ['v=spf1 include:_spf.other.example ~all'])
  // There may be only one: the value to paste is the record that is there, with what it lacks.
  assert.equal(spf.value, 'v=spf1 include:spf.posthorn.example include:_spf.other.example ~all')

  zone[dkimHost] = ['v=DKIM1; k=rsa; p=']
  zone['wrong.example TXT'] = ['v=spf1 -all', 'v=spf1 include:spf.posthorn.example -all']
  delete zone['_dmarc.wrong.example TXT']
  const second = await app.verify('wrong.example')
  assert.deepEqual(statesOf(second), ['multiple', 'invalid', 'missing'])
  assert.equal(recordOf(second, 'spf').found.length, 2)
  assert.ok(second.records.every(({ explanation }: Body) => explanation.length > 10))
})

test('the SPF value to paste is the one that the explanation names, and pasting it is enough', async () => {
  app.publish((await declared('behind.example')).records)
  for (const found of [
    'v=spf1 -all include:spf.posthorn.example',
    'v=spf1 ?include:spf.posthorn.example a:other.example ~all',
    'v=spf1 -ip4:192.0.2.1 ~all',
  ]) {
    zone['behind.example TXT'] = [found]
    const spf = recordOf(await app.verify('behind.example'), 'spf')
    assert.equal(spf.state, 'mismatch', found)
    assert.ok(
      spf.explanation.endsWith(`Change the record to ${spf.value}`),
      `${spf.explanation} ${spf.value}`,
    )
    zone['behind.example TXT'] = [spf.value]
    assert.equal(recordOf(await app.verify('behind.example'), 'spf').state, 'ok', spf.value)
  }
})

test('an SPF record that is right is the value, and stays it while DNS is silent', async () => {
  app.publish((await declared('keeps.example')).records)
  const standing = 'v=spf1 a:keeps.example include:spf.posthorn.example -all'
  zone['keeps.example A'] = ['192.0.2.1']
  zone['keeps.example TXT'] = [standing]
  assert.equal(recordOf(await app.verify('keeps.example'), 'spf').value, standing)
  zone['keeps.example TXT'] = 'fails'
  const spf = recordOf(await app.verify('keeps.example'), 'spf')
  assert.deepEqual([spf.state, spf.value], ['unreadable', standing])
})

test('where no SPF record was ever read the value is said to be for a domain that has none', async () => {
  zone['unknown.example TXT'] = 'fails'
  const spf = recordOf(await declared('unknown.example'), 'spf')
  assert.deepEqual([spf.state, spf.value], ['unreadable', 'v=spf1 include:spf.posthorn.example ~all'])
  assert.match(
    spf.explanation,
    /Add include:spf\.posthorn\.example behind v=spf1 of the SPF record that the domain has/,
  )
})

test('two accounts may declare a domain; it serves the one that can publish its record', async () => {
  const other = await app.makeAccount()
  const mine = await declared('shared.example')
  const theirs = (await app.declare('shared.example', other.key)).body
  app.publish(mine.records)
  assert.equal((await app.verify('shared.example')).status, 'verified')
  const refused = await app.verify('shared.example', other.key)
  assert.equal(refused.status, 'pending')
  assert.deepEqual([refused.dkim.state, refused.spf.state], ['missing', 'ok'])
  const ref = { accountId: other.accountId, domain: 'shared.example' }
  assert.equal((await servedDomains(db, [ref]))(ref), false)

  // Both proofs may stand beside each other.
  app.publish(theirs.records, 'dkim', 'verification')
  assert.equal((await app.verify('shared.example', other.key)).status, 'verified')
  assert.equal((await app.verify('shared.example')).status, 'verified')
})

test('DNS that does not answer says nothing: the last known state stays', async () => {
  const { records } = await declared('quiet.example')
  app.publish(records)
  const before = await app.verify('quiet.example')
  const hosts = records.map(({ host }: Body) => `${host} TXT`)
  for (const host of hosts) zone[host] = 'fails'
  app.later(1)
  const body = await app.verify('quiet.example')
  assert.equal(body.status, 'verified')
  assert.deepEqual(statesOf(body), ['unreadable', 'unreadable', 'unreadable'])
  for (const { last_known } of body.records)
    assert.deepEqual(last_known, { state: 'ok', at: before.checked_at })
  assert.equal(body.checked_at, app.clock.now.toISOString())
  const known = await findDomainState(db, accountId, 'quiet.example')
  assert.deepEqual([known?.spf.state, known?.dkim.state, known?.dmarc.state], ['ok', 'ok', 'ok'])
  assert.equal(known?.dmarc.facts.policy, 'none')
})

test('never read yet is not missing either', async () => {
  for (const name of ['dark.example', '_dmarc.dark.example', '_posthorn-challenge.dark.example'])
    zone[`${name} TXT`] = 'fails'
  const body = await declared('dark.example')
  assert.deepEqual(
    [body.spf.state, body.dmarc.state, body.spf.last_known],
    ['unreadable', 'unreadable', null],
  )
})

test('octets that no database holds are shown without them', async () => {
  const { records } = await declared('octets.example')
  zone['octets.example TXT'] = ['v=spf1 \u0000 include:spf.posthorn.example ~all']
  app.publish(records, 'dkim')
  const body = await app.verify('octets.example')
  assert.equal(body.status, 'verified')
})

test('of two looks at once the later one counts', async () => {
  const { records } = await declared('late.example')
  const ref = { accountId, domain: 'late.example' }
  const early = await checkDomain(app.needs, db, ref, app.clock.now)
  assert.ok(early)
  app.publish(records)
  app.later(0.1)
  const { checked_at } = await app.verify('late.example')
  await db.transaction((tx) => keepCheck(app.needs, tx, ref, early))
  const body = await app.read('late.example')
  assert.deepEqual([body.status, body.dkim.state, body.checked_at], ['verified', 'ok', checked_at])
})

test('what is stored can be read without asking DNS', async () => {
  const found = await findDomains(db, accountId)
  const fine = found.find(({ domain }) => domain === 'fine.example')
  assert.deepEqual([fine?.status, fine?.spf.state, fine?.dkim.state], ['verified', 'ok', 'ok'])
  assert.ok(fine?.checkedAt instanceof Date)
})
