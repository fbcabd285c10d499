import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { makeApp } from '../../../test/app.ts'
import { until } from '../../../test/until.ts'
import type { Db } from '../../kernel/db.ts'
import { sql } from '../../kernel/sql.ts'
import { dkimKeyFinder } from './dkim-keys.ts'
import { listDkimKeys } from './dkim-queries.ts'
import { storeDkimKey } from './fixtures/dkim.ts'

const secret = randomBytes(32)
const app = await makeApp({ deliver: true, env: { POSTHORN_SECRET_KEY: secret.toString('base64') } })
const needs = { db: app.pools.db, secretKeys: async () => [secret] }
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ed = generateKeyPairSync('ed25519')

const record = (type: string, key: Buffer) => `v=DKIM1; k=${type}; p=${key.toString('base64')}`
const der = (key: KeyObject) => key.export({ type: 'spki', format: 'der' })
const records: Record<string, string> = {
  'r1._domainkey.example.com': record('rsa', der(rsa.publicKey)),
  'e1._domainkey.example.com': record('ed25519', der(ed.publicKey).subarray(-32)),
}

async function captured(from: string, to: string, key = app.key): Promise<string> {
  const body = { from, to, subject: 'Signed', text: 'Hi there.' }
  const { body: sent } = await app.call('POST', '/api/v1/transactional/send', { key, body })
  const found = await until(async () => {
    const { body } = await app.call('GET', `/api/v1/sandbox/messages?to=${to}`, { key })
    return body.data.find((one: { message_id: string }) => one.message_id === sent.id)
  }, 'the message to be captured')
  return (await app.call('GET', `/api/v1/sandbox/messages/${found.id}/raw`, { key })).text
}

test('mail of a domain with keys carries signatures that verify', async () => {
  const ref = { accountId: app.accountId, domain: 'example.com' }
  await storeDkimKey(needs, { ...ref, selector: 'r1' }, rsa.privateKey)
  await storeDkimKey(needs, { ...ref, selector: 'e1' }, ed.privateKey)
  const raw = await captured('Shop <shop@Example.com>', 'anna@reader.example')
  const { results } = await dkimVerify(Buffer.from(raw), {
    resolver: async (name: string) => [[records[name] ?? '']],
  })
  assert.deepEqual(
    results.map(({ status, selector }) => [selector, status.result]),
    [
      ['e1', 'pass'],
      ['r1', 'pass'],
    ],
  )
})

test('another domain and another account are not signed for', async () => {
  assert.doesNotMatch(await captured('shop@other.example', 'bo@reader.example'), /DKIM-Signature/)
  const { key } = await app.makeAccount()
  assert.doesNotMatch(await captured('shop@example.com', 'cy@reader.example', key), /DKIM-Signature/)
})

test('the database holds no readable key, and a key is parsed once', async () => {
  const { accountId } = app
  const [sealed] = await listDkimKeys(app.pools.db, [{ accountId, domain: 'example.com' }])
  const plain = ed.privateKey.export({ type: 'pkcs8', format: 'der' })
  assert.ok(sealed && !sealed.private_key.includes(plain.subarray(-16)))
  const find = dkimKeyFinder(needs)
  const [first, second] = [await find(accountId, 'EXAMPLE.com'), await find(accountId, 'example.com')]
  assert.ok(first[0] && first[0] === second[0])
  assert.deepEqual(
    first.map(({ selector, algorithm }) => `${selector} ${algorithm}`),
    ['e1 ed25519-sha256', 'r1 rsa-sha256'],
  )
})

test('under another secret key nothing is sent unsigned in silence', async () => {
  const find = dkimKeyFinder({ ...needs, secretKeys: async () => [randomBytes(32)] })
  await assert.rejects(find(app.accountId, 'example.com'), /another key/)
  const strange = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  await storeDkimKey(needs, { accountId: app.accountId, domain: 'other.example', selector: 'x' }, strange)
  await assert.rejects(dkimKeyFinder(needs)(app.accountId, 'other.example'), /type ec/)
})

test('a key that begins to sign, and one that ceases to, is seen within seconds', async () => {
  const ref = { accountId: app.accountId, domain: 'turning.example' }
  const find = dkimKeyFinder(needs)
  const selectors = async () => (await find(ref.accountId, ref.domain)).map(({ selector }) => selector).join()
  const within = (wanted: string) =>
    until(async () => (await selectors()) === wanted, `the keys to be ${wanted || 'none'}`, 10_000)
  assert.equal(await selectors(), '')
  await storeDkimKey(needs, { ...ref, selector: 'a1' }, rsa.privateKey)
  await within('a1')
  await storeDkimKey(needs, { ...ref, selector: 'b1' }, rsa.privateKey)
  await needs.db.run(sql`update dkim_keys set signs = false where selector = 'a1'`)
  await within('b1')
  await needs.db.run(sql`delete from dkim_keys where selector = 'b1'`)
  await within('')
})

test('a busy sender asks for its keys about once a second, and many domains together ask once', async () => {
  let asked = 0
  const db: Db = {
    ...needs.db,
    many: (shape, statement) => {
      asked++
      return needs.db.many(shape, statement)
    },
  }
  const find = dkimKeyFinder({ ...needs, db })
  const started = performance.now()
  for (let i = 0; i < 1_000; i++) await find(app.accountId, i % 2 === 0 ? 'example.com' : 'none.example')
  assert.ok(asked <= 2 + (2 * (performance.now() - started)) / 1_000, `${asked} statements`)
  const before = asked
  await Promise.all(Array.from({ length: 200 }, (_, i) => find(app.accountId, `d${i}.example`)))
  assert.ok(asked - before <= 2, `${asked - before} statements`)
})
