// posthorn import-brevo against a running service that plays the provider.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Copy, copiedIds, copyAll, nameOf, survey } from '../../src/main/import-brevo/copy.ts'
import { openSource } from '../../src/main/import-brevo/source.ts'
import { makeApp } from '../app.ts'
import { contentsOf, type Front, makeProvider, openFront, people } from './provider.ts'

const provider = await makeProvider()
const app = await makeApp({
  env: { POSTHORN_RATE_LIMIT_FACTOR: '1000', POSTHORN_SECRET_KEY: '07'.repeat(32) },
})
const front = await openFront(provider.app.url)
const theirs = await contentsOf(provider.app, provider.key)

async function copyTo(accountId: string, waited: number[] = []): Promise<Copy & { notes: string[] }> {
  const wait = async (ms: number) => void waited.push(ms)
  const source = openSource({ url: front.url, key: provider.key, wait })
  const notes: string[] = []
  return {
    db: app.pools.db,
    source,
    name: await nameOf(source, front.url),
    accountId,
    webhooks: { secretKeys: async () => [Buffer.alloc(32, 7)], checkTarget: async () => undefined },
    now: () => new Date(),
    onProgress: () => undefined,
    note: (text) => notes.push(text),
    notes,
  }
}

describe('a copy', () => {
  test('has all that the account had, while the provider stumbles and asks for patience', async () => {
    const { key, accountId } = await app.makeAccount()
    const waited: number[] = []
    const stumble: Front['before'] = async (_path, n) => {
      const reset = (seconds: string) => ({ 'x-sib-ratelimit-reset': seconds })
      if (n % 3 === 1) return { status: 429, headers: reset('7') }
      if (n % 5 === 1) return { status: 429, headers: { ...reset('9'), 'retry-after': '2' } }
      return n % 4 === 2 ? { status: 502 } : undefined
    }
    front.before = stumble
    const copy = await copyTo(accountId, waited)
    const counts = await copyAll(copy)
    front.before = async () => undefined
    assert.deepEqual(await contentsOf(app, key), theirs)
    assert.deepEqual(counts.contacts, { found: people, copied: people, skipped: 0 })
    assert.deepEqual(copy.notes, [])
    assert.ok(waited.includes(7_100) && waited.includes(2_100) && waited.includes(1_000), waited.join())
    const ids = await copiedIds(copy)
    assert.equal(Object.keys(ids.lists ?? {}).length, 2)
    assert.equal(Object.keys(ids.templates ?? {}).length, 2)
  })

  test('made again copies nothing twice, and what has come since', async () => {
    const { key, accountId } = await app.makeAccount()
    await copyAll(await copyTo(accountId))
    await copyAll(await copyTo(accountId))
    assert.deepEqual(await contentsOf(app, key), theirs)
    const email = 'newest@example.com'
    await provider.app.call('POST', '/v3/contacts', { body: { email } })
    const counts = await copyAll(await copyTo(accountId))
    assert.deepEqual(counts.contacts, { found: people + 1, copied: people + 1, skipped: 0 })
    assert.equal((await app.call('GET', `/v3/contacts/${email}`, { key })).status, 200)
    await provider.app.call('DELETE', `/v3/contacts/${email}`)
  })

  test('that two run at once is one', async () => {
    const { key, accountId } = await app.makeAccount()
    const copies = [await copyTo(accountId), await copyTo(accountId)]
    await Promise.all(copies.map(copyAll))
    assert.deepEqual(await contentsOf(app, key), theirs)
  })

  test('of which only is asked what it would be writes nothing', async () => {
    const { key, accountId } = await app.makeAccount()
    const counts = await survey(await copyTo(accountId))
    assert.deepEqual(counts.contacts, { found: people, copied: 0, skipped: 0 })
    assert.deepEqual(counts.templates, { found: 2, copied: 0, skipped: 0 })
    const { body } = await app.call('GET', '/v3/contacts', { key })
    assert.equal(body.count, 0)
  })

  test('says what it leaves out', async () => {
    const { accountId } = await app.makeAccount()
    const checkTarget = async () => 'it is private'
    for (const _run of ['first', 'second']) {
      const copy = await copyTo(accountId)
      const counts = await copyAll({ ...copy, webhooks: { ...copy.webhooks, checkTarget } })
      assert.deepEqual(counts.webhooks, { found: 2, copied: 0, skipped: 2 })
      assert.equal(copy.notes.length, 2, copy.notes.join())
      assert.match(copy.notes[0] ?? '', /^webhooks \d+ is left out: url cannot be called: it is private$/)
    }
    const mended = await copyTo(accountId)
    assert.deepEqual((await copyAll(mended)).webhooks, { found: 2, copied: 2, skipped: 0 })
    assert.deepEqual((await copyAll(mended)).webhooks, { found: 2, copied: 2, skipped: 0 })
    assert.deepEqual(mended.notes, [])
  })

  test('counts what is there already as copied', async () => {
    const { key, accountId } = await app.makeAccount()
    const sender = { name: 'Shop', email: 'shop@example.com' }
    assert.equal((await app.call('POST', '/v3/senders', { key, body: sender })).status, 201)
    const blocked = { email: 'gone@example.com', reason: 'manual' }
    await app.call('POST', '/api/v1/suppressions', { key, body: blocked })
    const counts = await copyAll(await copyTo(accountId))
    for (const [kind, { found, copied, skipped }] of Object.entries(counts))
      assert.deepEqual([copied, skipped], [found, 0], kind)
    assert.ok((counts.attributes?.found ?? 0) > 4)
    assert.deepEqual(await survey(await copyTo(accountId)), counts)
  })

  test('tries a contact again that it left out, and leaves the others as they are', async () => {
    const { key, accountId } = await app.makeAccount()
    const [wrong, other] = ['wrong@example.com', 'person3@example.com']
    const made = { email: wrong, attributes: { SMS: '+33612345699' } }
    assert.equal((await provider.app.call('POST', '/v3/contacts', { body: made })).status, 201)
    const inTheWay = { email: 'other@example.com', attributes: { SMS: '+33612345699' } }
    assert.equal((await app.call('POST', '/v3/contacts', { key, body: inTheWay })).status, 201)
    const total = people + 1
    for (const _run of ['first', 'second']) {
      const copy = await copyTo(accountId)
      const counts = await copyAll(copy)
      assert.deepEqual(counts.contacts, { found: total, copied: people, skipped: 1 })
      assert.equal(copy.notes.length, 1, copy.notes.join())
      assert.match(copy.notes[0] ?? '', /^contacts wrong@example\.com is left out: /)
    }
    await app.call('DELETE', '/v3/contacts/other@example.com', { key })
    await app.call('PUT', `/v3/contacts/${other}`, { key, body: { attributes: { CITY: 'Here' } } })
    const counts = await copyAll(await copyTo(accountId))
    assert.deepEqual(counts.contacts, { found: total, copied: total, skipped: 0 })
    assert.equal((await app.call('GET', `/v3/contacts/${wrong}`, { key })).status, 200)
    assert.equal((await app.call('GET', `/v3/contacts/${other}`, { key })).body.attributes.CITY, 'Here')
    await provider.app.call('DELETE', `/v3/contacts/${wrong}`)
  })

  test('ends with one line where the key is refused or the provider stays away', async () => {
    const refused = openSource({ url: front.url, key: 'wrong' })
    await assert.rejects(refused.get('/account'), /refuses the key/)
    front.before = async () => ({ status: 503 })
    const notes: string[] = []
    const patience = { wait: async () => undefined, note: (text: string) => notes.push(text) }
    const away = openSource({ url: front.url, key: provider.key, ...patience })
    await assert.rejects(away.get('/account'), /answered 503; run it again to go on/)
    front.before = async () => undefined
    assert.deepEqual(
      [notes[0], notes.length],
      [`${front.url}/v3/account: it answered 503; trying again in 1 s`, 11],
    )
  })

  test('ends at once where there is no such host', async () => {
    const wait = () => assert.fail('there is nothing to wait for')
    const nowhere = openSource({ url: `https://${'a'.repeat(64)}.example`, key: 'x', wait })
    await assert.rejects(nowhere.get('/account'), /there is no host a+\.example; check --from/)
  })
})
