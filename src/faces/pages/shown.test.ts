// What the pages show where something is unusual: names, links that are cut short, people who are gone.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { insertAccount } from '../../features/accounts/account/queries.ts'
import { addContact, addList, env, keys } from '../../features/contacts/unsubscribe/fixtures/people.ts'
import { type UnsubscribeToken, writeUnsubscribeToken } from '../../features/contacts/unsubscribe/tokens.ts'
import { readId } from '../../kernel/id.ts'

const app = await makeApp({ env })
const { db } = app.pools
const arabic = 'نشرة (2026)!'

const tokenOf = (token: UnsubscribeToken) => writeUnsubscribeToken(keys, token)
const get = (path: string, headers = {}) => app.call('GET', path, { key: null, headers })
const post = (path: string, raw = '') =>
  app.call('POST', path, {
    key: null,
    raw,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
const named = async (name: string) =>
  (await insertAccount(db, { name, outreach: false, monthlyQuota: null })).id

describe('names on the pages', () => {
  test('are set apart wherever they stand', async () => {
    const accountId = await named(arabic)
    const email = 'reader@example.com'
    const id = await addContact(db, accountId, email)
    const listId = await addList(db, accountId, arabic, [id])
    const [all, one] = [tokenOf({ accountId, email }), tokenOf({ accountId, email, listId })]
    for (const reply of [
      await get(`/u/${all}`),
      await get(`/u/${one}`),
      await get(`/preferences/${all}`),
      await post(`/u/${one}`),
      await post(`/u/${one}`, 'undo=1'),
      await post(`/u/${all}`),
    ]) {
      const body = reply.text.slice(reply.text.indexOf('<body>'))
      assert.ok(body.includes(`<bdi>${arabic}</bdi>`), body)
      assert.equal(body.replaceAll(`<bdi>${arabic}</bdi>`, '').includes(arabic), false, body)
    }
  })

  test('of an account that nobody named are those of its sender', async () => {
    const accountId = await named('default')
    const { key } = await app.makeKey({}, accountId)
    const path = `/u/${tokenOf({ accountId, email: 'reader@example.com' })}`
    const heading = async (of = path) => /<h1>(.*)<\/h1>/.exec((await get(of)).text)?.[1]
    assert.equal(await heading(), 'Unsubscribe from this sender?')
    const settle = (default_sender: object) =>
      app.call('PUT', '/api/v1/settings', { key, body: { default_sender } })
    await settle({ email: 'news@shop.example' })
    assert.equal(await heading(), 'Unsubscribe from <bdi>news@shop.example</bdi>?')
    await settle({ email: 'news@shop.example', name: 'The Shop' })
    assert.equal(await heading(), 'Unsubscribe from <bdi>The Shop</bdi>?')
    const message = { from: 'Anna of Horn <anna@shop.example>', to: 'reader@example.com', subject: 'Hi' }
    const { body } = await app.call('POST', '/api/v1/transactional/send', {
      key,
      body: { ...message, text: 'Hi.' },
    })
    const messageId = readId('msg', body.id) ?? ''
    const ofMessage = `/u/${tokenOf({ accountId, email: message.to, messageId })}`
    assert.equal(await heading(ofMessage), 'Unsubscribe from <bdi>Anna of Horn</bdi>?')
  })
})

describe('links', () => {
  test('with a slash at their end lead on to pages that are there', async () => {
    const accountId = await named('Shop')
    const token = tokenOf({ accountId, email: 'reader@example.com' })
    for (const path of [`/u/${token}/`, `/u/${token}/?x=/`, `/u/${token}`, `/u/${token}?x=/`]) {
      for (const { status, text } of [await get(path), await post(path)]) {
        assert.equal(status, 200)
        const [, href = ''] = /<a href="([^"]+)"/.exec(text) ?? []
        const to = new URL(href, app.url + path).pathname
        assert.equal(to, `/preferences/${token}`)
        assert.equal((await get(to)).status, 200)
      }
    }
  })

  test('with what stood behind them in a text still work', async () => {
    const accountId = await named('Bracket')
    const token = tokenOf({ accountId, email: 'reader@example.com' })
    for (const more of [']', '.', ').', '%3E', '%C2%BB,', '%5D/'])
      for (const page of ['u', 'preferences']) {
        const { status, text } = await get(`/${page}/${token}${more}`)
        assert.equal(status, 200, more)
        assert.ok(page === 'preferences' || text.includes(`preferences/${token}"`), more)
      }
    assert.equal((await post(`/u/${token}]`)).status, 200)
    assert.equal((await get(`/u/${token}x`)).status, 404)
  })

  test('that are tracked and cut short show people a page, programs an error', async () => {
    const reader = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'accept-language': 'de' }
    for (const path of ['/t/abc', '/t/', '/t/a/b', '/t/%zz', '/mirror/a/b']) {
      const shown = await get(path, reader)
      assert.deepEqual(
        [shown.status, shown.headers.get('content-type')],
        [404, 'text/html; charset=utf-8'],
        path,
      )
      assert.match(shown.text, /<h1>Dieser Link funktioniert nicht<\/h1>/)
      const told = await get(path, { accept: '*/*' })
      assert.ok(told.status >= 400 && told.status < 500 && told.body.error.code, path)
    }
    const image = await get('/t/abc.gif', reader)
    assert.deepEqual([image.status, image.headers.get('content-type')], [200, 'image/gif'])
  })

  test('of a shared campaign say what they are, and change nothing', async () => {
    const call = (method: string, path: string, body?: unknown) => app.call(method, path, { body })
    const made = await call('POST', '/v3/emailCampaigns', {
      name: 'Spring',
      subject: 'Hello',
      sender: { email: 'news@shop.example' },
      htmlContent: '<p>Hello</p>',
    })
    const { body } = await call('GET', `/v3/emailCampaigns/${made.body.id}/sharedUrl`)
    const copy = await get(new URL(body.sharedUrl).pathname)
    const [, href = ''] = /href="http:\/\/test(\/u\/[^"]+)"/.exec(copy.text) ?? []
    for (const reply of [
      await get(href),
      await post(href),
      await get(href.replace('/u/', '/preferences/')),
    ]) {
      assert.equal(reply.status, 200)
      assert.match(reply.text, /<h1>This link works in the email only<\/h1>/)
      assert.doesNotMatch(reply.text, /test|<form/)
    }
  })
})

test('somebody whom the account knows no more is not told that mail comes again', async () => {
  const accountId = await named('Other shop')
  const path = `/u/${tokenOf({ accountId, email: 'gone@example.com' })}`
  await post(path)
  const back = await post(path, 'undo=1')
  assert.match(back.text, /<h1>Your unsubscription is taken back<\/h1>/)
  assert.match(back.text, /You are on no list of <bdi>Other shop<\/bdi>\./)
  assert.doesNotMatch(back.text, /gets emails/)
})
