// posthorn import-brevo against a running service that plays the provider.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { unsubscribe } from '../../src/features/contacts/unsubscribe/unsubscribe.ts'
import { sql } from '../../src/kernel/sql.ts'
import { type Copy, copiedIds, copyAll, nameOf, survey } from '../../src/main/import-brevo/copy.ts'
import { openSource, type Row } from '../../src/main/import-brevo/source.ts'
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

/** The copy, with other answers of the provider for one path. */
function answering<T extends Copy>(copy: T, path: string, answer: Row): T {
  const get: Copy['source']['get'] = async (asked, query) =>
    asked === path ? answer : copy.source.get(asked, query)
  return { ...copy, source: { get } }
}

// Unsubscriptions from campaigns do not stand in it at the provider.
const withoutBlocked = <T extends Copy>(copy: T): T => answering(copy, '/smtp/blockedContacts', {})

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

  test('tells webhooks of SMS of SMS, and says which events they are not told of', async () => {
    const { key, accountId } = await app.makeAccount()
    const hook = { id: 7, url: 'https://203.0.114.7/sms', type: 'transactional', channel: 'sms' }
    const answer = { webhooks: [{ ...hook, events: ['sent', 'reply', 'proxyOpen'] }] }
    const copy = answering(await copyTo(accountId), '/webhooks', answer)
    // It stands there twice: of campaigns by SMS there are none here.
    assert.deepEqual((await copyAll(copy)).webhooks, { found: 2, copied: 1, skipped: 1 })
    const [made] = (await app.call('GET', '/v3/webhooks', { key })).body.webhooks
    assert.deepEqual([made.channel, made.events], ['sms', ['sent', 'reply']])
    assert.equal(copy.notes[0], 'webhooks 7 is not told of proxyOpen: not known here')
  })

  // From here on the provider's account changes.

  test('made again takes over who unsubscribed or came since, and what was changed here stays', async () => {
    const { key, accountId } = await app.makeAccount()
    await copyAll(withoutBlocked(await copyTo(accountId)))
    const at = (n: number) => `/v3/contacts/person${n}@example.com`
    // Two leave there and one is deleted, so that nobody stands behind the last mark.
    await provider.app.call('PUT', at(40), {
      body: { emailBlacklisted: true, attributes: { CITY: 'There' } },
    })
    await provider.app.call('PUT', at(41), { body: { smsBlacklisted: true } })
    const [vip] = (await provider.app.call('GET', '/v3/contacts/lists')).body.lists
    const person6 = { accountId: provider.accountId, email: 'person6@example.com', listId: String(vip.id) }
    await unsubscribe(provider.app.pools.db, person6, new Date())
    await provider.app.call('DELETE', at(50))
    await provider.app.call('POST', '/v3/contacts', { body: { email: 'late@example.com' } })
    // One comes back here, and one is another here.
    assert.equal((await app.call('POST', `${at(20)}/resubscribe`, { key })).status, 200)
    await app.call('PUT', at(40), { key, body: { attributes: { CITY: 'Here' } } })
    const counts = await copyAll(withoutBlocked(await copyTo(accountId)))
    assert.deepEqual(counts.contacts, { found: people, copied: people + 1, skipped: 0 })
    const read = async (path: string) => (await app.call('GET', path, { key })).body
    const left = await read(at(40))
    assert.deepEqual(
      [left.emailBlacklisted, left.status, left.attributes.CITY],
      [true, 'unsubscribed', 'Here'],
    )
    assert.equal((await read(at(41))).smsBlacklisted, true)
    assert.equal((await read(at(6))).listUnsubscribed?.length, 1)
    assert.equal((await read(at(20))).emailBlacklisted, false)
    assert.equal((await read('/v3/contacts/late@example.com')).emailBlacklisted, false)
  })

  test('made again fills a list that was made since, and leaves the others as they are here', async () => {
    const { key, accountId } = await app.makeAccount()
    await copyAll(await copyTo(accountId))
    const [a, b, gone] = ['person60@example.com', 'person61@example.com', 'person62@example.com']
    const [news] = (await app.call('GET', '/v3/contacts/lists?sort=asc', { key })).body.lists
    const out = { key, body: { unlinkListIds: [news.id] } }
    assert.equal((await app.call('PUT', `/v3/contacts/${a}`, out)).status, 204)
    assert.equal((await app.call('DELETE', `/v3/contacts/${gone}`, { key })).status, 204)
    const body = { name: 'Since' }
    const made = (await provider.app.call('POST', '/v3/contacts/lists', { body })).body
    const emails = [a, b, gone]
    await provider.app.call('POST', `/v3/contacts/lists/${made.id}/contacts/add`, { body: { emails } })
    // As it was left by a version that did not mark them.
    await app.pools.db.run(sql`
      delete from provider_copied_ids where account_id = ${accountId} and kind = 'filled'`)
    const counts = await copyAll(await copyTo(accountId))
    assert.deepEqual(counts.lists, { found: 3, copied: 3, skipped: 0 })
    const members = async () => {
      const [list] = (await app.call('GET', '/v3/contacts/lists?limit=1', { key })).body.lists
      const page = (await app.call('GET', `/v3/contacts/lists/${list.id}/contacts`, { key })).body
      return [
        list.name,
        list.uniqueSubscribers,
        page.contacts.map(({ email }: { email: string }) => email).sort(),
      ]
    }
    assert.deepEqual(await members(), ['Since', 2, [a, b]])
    const read = async () => (await app.call('GET', `/v3/contacts/${a}`, { key })).body.listIds
    assert.equal((await read()).includes(news.id), false)
    // From now on it is as the others: who is taken off it here stays off.
    const [since] = (await app.call('GET', '/v3/contacts/lists?limit=1', { key })).body.lists
    await app.call('PUT', `/v3/contacts/${a}`, { key, body: { unlinkListIds: [since.id] } })
    await copyAll(await copyTo(accountId))
    assert.deepEqual(await members(), ['Since', 1, [b]])
  })

  test('made again blocks who was blocked since, and nobody who was let in again here', async () => {
    const { key, accountId } = await app.makeAccount()
    await copyAll(await copyTo(accountId))
    const path = '/v3/smtp/blockedContacts'
    assert.equal((await app.call('DELETE', `${path}/angry@example.com`, { key })).status, 204)
    assert.equal((await provider.app.call('DELETE', `${path}/gone@example.com`)).status, 204)
    await provider.app.call('POST', '/api/v1/suppressions', { body: { email: 'newly@example.com' } })
    await copyAll(await copyTo(accountId))
    const { contacts } = (await app.call('GET', `${path}?limit=100`, { key })).body
    const emails = contacts.map(({ email }: { email: string }) => email)
    assert.deepEqual(
      ['newly@example.com', 'gone@example.com', 'angry@example.com'].map((email) => emails.includes(email)),
      [true, true, false],
    )
  })

  test('writes to nobody who is left out and may not be written to', async () => {
    const { key, accountId } = await app.makeAccount()
    const attributes = { SMS: '+33612345699' }
    const inTheWay = { email: 'other@example.com', attributes }
    assert.equal((await app.call('POST', '/v3/contacts', { key, body: inTheWay })).status, 201)
    const odd = { email: 'odd@example.com', attributes, emailBlacklisted: true }
    assert.equal((await provider.app.call('POST', '/v3/contacts', { body: odd })).status, 201)
    const copy = withoutBlocked(await copyTo(accountId))
    assert.equal((await copyAll(copy)).contacts?.skipped, 1)
    assert.match(copy.notes[0] ?? '', /^contacts odd@example\.com is left out: SMS/)
    const { body } = await app.call('GET', '/api/v1/suppressions?email=odd@example.com', { key })
    assert.equal(body.data[0]?.reason, 'manual')
  })
})
