import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { insertAccount } from '../../features/accounts/account/queries.ts'
import {
  addContact,
  addList,
  env,
  keys,
  look,
  unsubscribeEventsOf,
} from '../../features/contacts/unsubscribe/fixtures/people.ts'
import { type UnsubscribeToken, writeUnsubscribeToken } from '../../features/contacts/unsubscribe/tokens.ts'
import { suppress } from '../../features/suppressions/suppressions.ts'
import { readId } from '../../kernel/id.ts'
import { sql } from '../../kernel/sql.ts'

const app = await makeApp({ env })
const { db } = app.pools
const hostile = `<script>alert("1")</script> & 'Sons'`
const { id: accountId } = await insertAccount(db, { name: hostile, outreach: false, monthlyQuota: null })
const escaped = '&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62; &#38; &#39;Sons&#39;'

const tokenOf = (token: UnsubscribeToken) => writeUnsubscribeToken(keys, token)
const urlencoded = { 'content-type': 'application/x-www-form-urlencoded' }
const get = (path: string, headers = {}) => app.call('GET', path, { key: null, headers })
const post = (path: string, raw = '', headers: Record<string, string> = urlencoded) =>
  app.call('POST', path, { key: null, raw, headers })
const statusOf = async (email: string) => (await look(db, accountId, email)).status

let made = 0
async function person(): Promise<{ email: string; id: string; path: string; token: string }> {
  const email = `reader${made++}@example.com`
  const id = await addContact(db, accountId, email)
  const token = tokenOf({ accountId, email })
  return { email, id, path: `/u/${token}`, token }
}

describe('the unsubscribe page', () => {
  test('asks and changes nothing, and tells no more than it must', async () => {
    const { email, path } = await person()
    const before = await look(db, accountId, email)
    const { status, text, headers } = await get(path, { purpose: 'prefetch', 'sec-purpose': 'prefetch' })
    assert.equal(status, 200)
    assert.equal((await app.call('HEAD', path, { key: null })).status, 200)
    assert.deepEqual(await look(db, accountId, email), before)
    assert.equal(text.match(/<button/g)?.length, 1)
    assert.ok(text.includes(escaped) && !text.includes('<script'))
    assert.ok(text.includes('r…0@example.com') && !text.includes(email))
    assert.match(text, /<html lang="en">/)
    assert.equal(headers.get('cache-control'), 'no-store, private')
    assert.equal(headers.get('referrer-policy'), 'no-referrer')
    assert.match(headers.get('x-robots-tag') ?? '', /noindex/)
    const style = /<style>(.*)<\/style>/s.exec(text)?.[1] ?? ''
    const policy = headers.get('content-security-policy') ?? ''
    assert.equal(
      policy,
      `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; form-action 'self'; ` +
        `frame-ancestors 'none'; base-uri 'none'`,
    )
    assert.equal(headers.get('set-cookie'), null)
  })

  test('acts on one click, in both forms, once or again, without redirect', async () => {
    const boundary = 'x-Y-z'
    const multipart =
      `--${boundary}\r\ncontent-disposition: form-data; name="List-Unsubscribe"\r\n\r\n` +
      `One-Click\r\n--${boundary}--\r\n`
    const forms: [string, Record<string, string>][] = [
      ['List-Unsubscribe=One-Click', urlencoded],
      ['List-Unsubscribe=One-Click', { 'content-type': 'Application/X-WWW-Form-Urlencoded; charset=UTF-8' }],
      [multipart, { 'content-type': `multipart/form-data; boundary="${boundary}"` }],
      ['undo=1&List-Unsubscribe=One-Click', urlencoded],
      ['broken', { 'content-type': 'multipart/form-data; boundary=none' }],
      ['broken', { 'content-type': 'multipart/form-data' }],
      ['undo=1', { 'content-type': 'text/plain' }],
      ['{"undo":"1"}', { 'content-type': 'application/json' }],
      ['%%%', urlencoded],
      ['x', { 'content-type': 'nonsense' }],
      ['x', { 'content-type': '' }],
      ['x', { 'content-type': 'multipart/form-data; ;=;boundary' }],
      ['x', { 'content-type': 'application/x-www-form-urlencoded; charset="' }],
      ['', {}],
    ]
    for (const [raw, headers] of forms) {
      const { email, path } = await person()
      for (const turn of [1, 2]) {
        const reply = await post(path, raw, headers)
        assert.equal(reply.status, 200, `${turn} ${raw} ${headers['content-type']}: ${reply.text}`)
        assert.match(reply.text, /<h1>You are unsubscribed<\/h1>/)
      }
      assert.equal(await statusOf(email), 'unsubscribed')
    }
    const { email, path } = await person()
    assert.equal((await fetch(app.url + path, { method: 'POST' })).status, 200)
    assert.equal(await statusOf(email), 'unsubscribed')
  })

  test('takes back what was just done, and offers it only where it can', async () => {
    const { email, path } = await person()
    assert.match((await post(path)).text, /name="undo"/)
    assert.match((await get(path)).text, /name="undo"/)
    const back = await post(path, 'undo=1')
    assert.match(back.text, /You are subscribed again/)
    assert.equal(await statusOf(email), 'subscribed')
    await addContact(db, accountId, 'blocked@example.com', 'unsubscribed')
    const blocked = `/u/${tokenOf({ accountId, email: 'blocked@example.com' })}`
    assert.doesNotMatch((await get(blocked)).text, /name="undo"/)
    assert.match((await post(blocked, 'undo=1')).text, /You are unsubscribed/)
    assert.equal(await statusOf('blocked@example.com'), 'unsubscribed')
  })

  test('says what else stands against the mail, and does not promise otherwise', async () => {
    const [byHand, erased] = [await person(), await person()]
    await suppress(
      db,
      { accountId, email: byHand.email },
      { reason: 'manual', source: 'api', messageId: null, at: new Date() },
    )
    await db.run(sql`
      insert into suppressions (account_id, email, reason, source, created_at, id)
      values (${accountId}, erased_name(${erased.email}), 'manual', 'erasure', now(), gen_random_uuid())`)
    for (const [one, en, fr] of [
      [byHand, /Your address is blocked\. Only/, /Votre adresse est bloquée\. Seul/],
      [erased, /Your data was erased/, /Vos données ont été effacées/],
    ] as const) {
      for (const reply of [await get(one.path), await post(one.path), await post(one.path, 'undo=1')]) {
        assert.match(reply.text, /<h1>You are unsubscribed<\/h1>/)
        assert.match(reply.text, en)
        assert.doesNotMatch(reply.text, /<button/)
      }
      assert.match((await get(one.path, { 'accept-language': 'fr' })).text, fr)
      const preferences = await get(`/preferences/${one.token}`)
      assert.match(preferences.text, en)
      if (one === byHand) assert.match(preferences.text, /name="nothing" value="1" checked/)
      else assert.doesNotMatch(preferences.text, /<form|<button|<input/)
    }
  })

  test('of a list names it, and leaves only that', async () => {
    const { email, id } = await person()
    const list = await addList(db, accountId, '<b>News</b>', [id])
    const path = `/u/${tokenOf({ accountId, email, listId: list })}`
    assert.match((await get(path)).text, /“&#60;b&#62;News&#60;\/b&#62;”/)
    assert.match((await post(path)).text, /no longer on the list/)
    const left = await look(db, accountId, email)
    assert.deepEqual([left.status, left.lists, left.left_lists], ['subscribed', [], [list]])
    assert.match((await post(path, 'undo=1')).text, /is on the list .* again/)
    assert.deepEqual((await look(db, accountId, email)).lists, [list])
    const gone = `/u/${tokenOf({ accountId, email, listId: '99999999' })}`
    assert.match((await get(gone)).text, /is not on this list/)
    assert.doesNotMatch((await post(gone)).text, /name="undo"/)
  })

  test('records the event of its message', async () => {
    const message = { from: 'shop@example.com', to: 'ev@example.com', subject: 'Hello', text: 'Hello' }
    const { body } = await app.call('POST', '/api/v1/transactional/send', { body: message })
    const messageId = readId('msg', body.id) ?? ''
    await post(`/u/${tokenOf({ accountId: app.accountId, email: message.to, messageId })}`)
    const events = await unsubscribeEventsOf(db, app.accountId, messageId)
    assert.deepEqual(events, [{ scope: 'all', user_agent: 'node' }])
  })

  test('gives way to the page of the account, but one click still acts here', async () => {
    const { accountId, key } = await app.makeAccount()
    const change = (unsubscribe_url: string | null) =>
      app.call('PUT', '/api/v1/settings', { key, body: { unsubscribe_url } })
    const changed = await change('https://shop.example/bye?lang=fr#form')
    assert.equal(changed.status, 200, changed.text)
    const token = tokenOf({ accountId, email: 'ada@example.com' })
    const { status, headers, text } = await get(`/u/${token}`)
    assert.deepEqual([status, text], [302, ''])
    assert.equal(headers.get('location'), `https://shop.example/bye?lang=fr&token=${token}#form`)
    assert.equal(headers.get('referrer-policy'), 'no-referrer')
    assert.equal((await get(`/u/${token}x`)).status, 404)
    assert.equal((await get(`/preferences/${token}`)).status, 200)
    assert.equal((await post(`/u/${token}`, 'List-Unsubscribe=One-Click')).status, 200)
    assert.match((await look(db, accountId, 'ada@example.com')).suppression ?? '', /^unsubscribe/)
  })
})

describe('a link that does not work', () => {
  test('gets a friendly page that says nothing else', async () => {
    const { token } = await person()
    const broken = ['x', `${token}x`, token.slice(0, -1), '%zz', 'a%00b', 'a/b', '', 'v1.'.padEnd(9_500, 'A')]
    for (const page of ['u', 'preferences']) {
      for (const part of broken) {
        for (const reply of [await get(`/${page}/${part}`), await post(`/${page}/${part}`)]) {
          assert.equal(reply.status, 404, `${page} ${part.slice(0, 50)}`)
          assert.match(reply.text, /<h1>This link does not work<\/h1>/)
          assert.match(reply.headers.get('content-security-policy') ?? '', /default-src 'none'/)
          assert.doesNotMatch(reply.text, /example\.com|Sons/)
        }
      }
    }
  })

  test('and a body that is too large is refused, before anything is done', async () => {
    const { email, path, token } = await person()
    for (const to of [path, `/preferences/${token}`]) {
      const reply = await post(to, `nothing=1&x=${'a'.repeat(64 * 1024)}`)
      assert.equal(reply.status, 413)
      assert.match(reply.text, /<h1>That did not work<\/h1>/)
    }
    assert.equal(await statusOf(email), 'subscribed')
  })
})

describe('the preferences page', () => {
  test('shows the lists of this person and account, and saves what is chosen', async () => {
    const { email, id, token } = await person()
    const path = `/preferences/${token}`
    assert.match((await get(path)).text, /You are on no list/)
    const [a, b] = [await addList(db, accountId, 'A & A', [id]), await addList(db, accountId, 'B', [id])]
    await addList(db, accountId, 'Not of this person')
    const { text } = await get(path)
    assert.equal(text.match(/name="list"/g)?.length, 2)
    assert.ok(text.includes('A &#38; A') && !text.includes('Not of this') && !text.includes(email))
    const saved = await post(path, `shown=${a}&shown=${b}&list=${b}`)
    assert.match(saved.text, /Your choice is saved/)
    assert.match(saved.text, new RegExp(`value="${b}" checked`))
    assert.doesNotMatch(saved.text, new RegExp(`value="${a}" checked`))
    assert.deepEqual((await look(db, accountId, email)).left_lists, [a])
    const none = await post(path, `shown=${a}&shown=${b}&list=${b}&nothing=1`)
    assert.match(none.text, /name="nothing" value="1" checked/)
    assert.equal(await statusOf(email), 'unsubscribed')
    await post(path, `shown=${a}&shown=${b}&list=${a}&list=${b}&was_nothing=1`)
    const back = await look(db, accountId, email)
    assert.deepEqual([back.status, back.lists.length, back.left_lists], ['subscribed', 2, []])
  })

  test('asks whether opens may be noted, and keeps what is said as a proof', async () => {
    const { key, accountId: own } = await app.makeAccount()
    const call = (method: string, to: string, body?: object) => app.call(method, to, { key, body })
    const email = 'watched@example.com'
    const path = `/preferences/${tokenOf({ accountId: own, email })}`
    assert.doesNotMatch((await get(path)).text, /name="opens"/)
    await call('POST', '/v3/contacts', { email })
    const boxes = async () => /name="opens" value="1"( checked)?/.exec((await get(path)).text)?.[0]
    const consents = async () => {
      const { body } = await call('GET', `/api/v1/contacts/export?email=${email}`)
      return body.consents.map((one: Record<string, unknown>) => [one.tracking_consent, one.source, one.text])
    }
    const words = 'Let this sender see when I open its emails'
    assert.equal(await boxes(), 'name="opens" value="1" checked')
    for (const same of ['opens_shown=1&opens=1', 'opens=1', '']) await post(path, same)
    assert.deepEqual(await consents(), [])
    assert.match((await post(path, 'opens_shown=1')).text, /name="opens" value="1">/)
    assert.equal((await call('GET', `/v3/contacts/${email}`)).body.tracking_consent, false)
    await call('PUT', '/api/v1/settings', { open_tracking: 'consented_only' })
    await post(path, 'opens_shown=1&opens=1')
    assert.equal(await boxes(), 'name="opens" value="1" checked')
    assert.deepEqual(await consents(), [
      [false, 'preferences', words],
      [true, 'preferences', words],
    ])
    await call('PUT', '/api/v1/settings', { open_tracking: 'off' })
    assert.equal(await boxes(), undefined)
  })

  test('an empty or strange form changes nothing', async () => {
    const { email, id, token } = await person()
    await addList(db, accountId, 'A', [id])
    const before = await look(db, accountId, email)
    for (const raw of [
      '',
      'shown=x&list=-1',
      `shown=${'9'.repeat(30)}`,
      'shown=%00&list=%ff',
      'was_nothing=1',
    ])
      assert.equal((await post(`/preferences/${token}`, raw)).status, 200, raw)
    assert.deepEqual(await look(db, accountId, email), before)
  })
})

test('an account that nobody has named yet is called neutrally', async () => {
  const { id } = await insertAccount(db, { name: 'default', outreach: false, monthlyQuota: null })
  const path = `/u/${tokenOf({ accountId: id, email: 'reader@example.com' })}`
  assert.match((await get(path)).text, /<h1>Unsubscribe from this sender\?<\/h1>/)
  const french = await get(path, { 'accept-language': 'fr' })
  assert.match(french.text, /<h1>Se désabonner de cet expéditeur\u00a0\?<\/h1>/)
})

test('pages speak the language of the reader', async () => {
  const { path } = await person()
  const speaks = async (accepted: string) =>
    /<html lang="(\w+)">/.exec((await get(path, { 'accept-language': accepted })).text)?.[1]
  assert.equal(await speaks('fr-CA,fr;q=0.9,en;q=0.8'), 'fr')
  assert.equal(await speaks('ja, en;q=0.5, fr;q=0.7'), 'fr')
  assert.equal(await speaks('en-GB, fr;q=0.7'), 'en')
  assert.equal(await speaks('ja'), 'en')
  for (const language of ['de', 'es', 'it', 'pt', 'nl', 'pl'])
    assert.equal(await speaks(`${language}-XX, en;q=0.9`), language)
  assert.equal(await speaks('fr;q=0, constructor, *'), 'en')
})
