import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { sql } from '../../../kernel/sql.ts'
import { openTrackingKeys } from '../../../main/wire.ts'
import { sendingWith } from '../fixtures/sending.ts'
import { clickToken } from './tokens.ts'

const app = await makeApp({
  deliver: true,
  env: { POSTHORN_RETRY_FACTOR: '0.001', POSTHORN_RATE_LIMIT_FACTOR: '100' },
})

const { send, settled, sendTo } = sendingWith(app)

describe('opens and clicks', () => {
  test('are acted out by the simulator with their classification', async () => {
    const seen = async (act: string) => {
      const message = await sendTo(`${act}@simulator.posthorn.test`, ['delivered'])
      const events = message.events as { type: string; classification?: string }[]
      return events
        .filter(({ type }) => type !== 'delivery')
        .map((one) => `${one.type} ${one.classification}`)
    }
    assert.deepEqual(await seen('open'), ['open human'])
    assert.deepEqual(await seen('click'), ['open human', 'click human'])
    assert.deepEqual(await seen('proxy'), ['open privacy_proxy'])
    assert.deepEqual(await seen('robot'), ['open robot', 'click robot'])
  })

  test('are not acted out where they would not be noted', async () => {
    const { key } = await app.makeAccount()
    const seen = async (act: string, more: object = {}) => {
      const { body } = await send({ to: `${act}@simulator.posthorn.test`, ...more }, key)
      const { events } = await settled(body.id, ['delivered'], key)
      return events.map(({ type }: { type: string }) => type)
    }
    assert.deepEqual(await seen('click+1', { track_opens: false }), ['delivery', 'click'])
    assert.deepEqual(await seen('click+2', { track_clicks: false }), ['delivery', 'open'])
    await app.call('PUT', '/api/v1/settings', { key, body: { open_tracking: 'off', click_tracking: false } })
    assert.deepEqual(await seen('robot', { track_opens: true, track_clicks: true }), ['delivery'])
  })

  test('are acted out on the first link that is tracked', async () => {
    const html = `<a href="{{ mirror }}">1</a> <a data-no-track href="https://example.net/">2</a>
      <a href="https://example.org/?a=1&amp;b=2">3</a> <a href="https://example.net/">4</a>`
    const { body } = await send({ to: 'click+3@simulator.posthorn.test', params: {}, html })
    const { events } = await settled(body.id, ['delivered'])
    const clicks = events.filter(({ type }: { type: string }) => type === 'click')
    assert.deepEqual(
      clicks.map(({ url }: { url: string }) => url),
      ['https://example.org/?a=1&b=2'],
    )
  })

  test('are noted no more once the person withdraws the consent, in mail sent before too', async () => {
    const { key } = await app.makeAccount()
    const set = (open_tracking: string) =>
      app.call('PUT', '/api/v1/settings', { key, body: { open_tracking } })
    await set('consented_only')
    const email = 'withdraws@example.com'
    await app.call('POST', '/v3/contacts', { key, body: { email, tracking_consent: true } })
    const { body } = await send({ to: email, html: '<p>Hello</p>' }, key)
    await settled(body.id, ['delivered'], key)
    const { body: sandbox } = await app.call('GET', `/api/v1/sandbox/messages?to=${email}`, { key })
    const [, pixel = ''] = /src="http:\/\/test(\/t\/[^"]+\.gif)"/.exec(sandbox.data[0].html) ?? []
    const opens = async () => {
      assert.equal((await app.call('GET', pixel, { key: null })).status, 200)
      const { body: message } = await app.call('GET', `/api/v1/messages/${body.id}`, { key })
      return message.events.filter(({ type }: { type: string }) => type === 'open').length
    }
    assert.equal(await opens(), 1)
    const moved = 'moved@example.com'
    const change = (who: string, to: object) => app.call('PUT', `/v3/contacts/${who}`, { key, body: to })
    await change(email, { tracking_consent: false })
    assert.equal(await opens(), 1)
    await set('on')
    assert.equal(await opens(), 1)
    await change(email, { attributes: { EMAIL: moved } })
    assert.equal(await opens(), 1)
    await change(moved, { tracking_consent: true })
    assert.equal(await opens(), 2)
    await set('off')
    assert.equal(await opens(), 2)
  })

  test('lead through links that cannot be forged or turned elsewhere', async () => {
    const link = 'https://example.org/a?b=1&c=2'
    const { body } = await send({
      to: 'reader@example.com',
      html: `<a href="${link.replace('&', '&amp;')}">x</a>`,
    })
    await settled(body.id, ['delivered'])
    const { body: sandbox } = await app.call('GET', '/api/v1/sandbox/messages?to=reader@example.com')
    const [, click = ''] = /href="http:\/\/test(\/t\/[^"]+)"/.exec(sandbox.data[0].html) ?? []
    const [, open = ''] = /src="http:\/\/test(\/t\/[^"]+\.gif)"/.exec(sandbox.data[0].html) ?? []
    const clicked = await app.call('GET', click, { key: null })
    assert.deepEqual([clicked.status, clicked.headers.get('location')], [302, link])
    const opened = await app.call('GET', open, { key: null })
    assert.deepEqual([opened.status, opened.headers.get('content-type')], [200, 'image/gif'])
    assert.equal((await app.call('HEAD', open, { key: null })).status, 200)
    assert.equal((await app.call('OPTIONS', click, { key: null })).status, 302)
    for (const forged of ['/t/x', click.slice(0, -3), `${click.slice(0, -4)}AAAA`])
      assert.equal((await app.call('GET', forged, { key: null })).status, 404)
    const mutilated = await app.call('GET', open.replace('.gif', 'A.gif'), { key: null })
    assert.deepEqual([mutilated.status, mutilated.headers.get('content-type')], [200, 'image/gif'])
    const { body: message } = await app.call('GET', `/api/v1/messages/${body.id}`)
    const types = message.events.map((event: { type: string }) => event.type).sort()
    assert.deepEqual(types, ['click', 'click', 'delivery', 'open', 'open'])
    assert.equal(message.events.find((event: { type: string }) => event.type === 'click').url, link)
  })

  test('lead where a browser would have gone, whatever letters the address is written in', async () => {
    const leads = [
      ['https://a.example/€', 'https://a.example/%E2%82%AC'],
      ['https://日本.example/パス?q=😀', 'https://xn--wgv71a.example/%E3%83%91%E3%82%B9?q=%F0%9F%98%80'],
      ['https://shop.example/café?name=Zoë', 'https://shop.example/caf%C3%A9?name=Zo%C3%AB'],
      ['https://a.example/x y?q=a b', 'https://a.example/x%20y?q=a%20b'],
      ['https://a.example', 'https://a.example'],
    ] as const
    const bad = '<a href="https://[bad/">x</a>'
    const html = leads.map(([written]) => `<a href="${written}">x</a>`).join('') + bad
    const { body } = await send({ to: 'letters@example.com', html })
    await settled(body.id, ['delivered'])
    const { body: sandbox } = await app.call('GET', '/api/v1/sandbox/messages?to=letters@example.com')
    assert.ok(sandbox.data[0].html.includes(bad))
    const paths: string[] = [...sandbox.data[0].html.matchAll(/href="http:\/\/test(\/t\/[^"]+)"/g)].map(
      ([, path]) => path,
    )
    const replies = await Promise.all(paths.map((path) => app.call('GET', path, { key: null })))
    assert.deepEqual(
      replies.map(({ status, headers }) => [status, headers.get('location')]),
      leads.map(([, location]) => [302, location]),
    )
    const { body: message } = await app.call('GET', `/api/v1/messages/${body.id}`)
    const clicked = message.events.flatMap(({ url }: { url?: string }) => url ?? [])
    assert.deepEqual(clicked.sort(), leads.map(([written]) => written).sort())
  })

  test('a link in older mail that leads nowhere is answered with a page', async () => {
    const token = clickToken(await openTrackingKeys(app.pools.db), randomUUID(), 'https://[bad/')
    const { status, headers, text } = await app.call('GET', `/t/${token}`, { key: null })
    assert.deepEqual([status, headers.get('content-type')], [404, 'text/html; charset=utf-8'])
    assert.match(text, /This link does not work/)
  })

  async function linksTo(to: string) {
    const links = ['a', 'b', 'c'].map((name) => `<a href="https://example.org/${name}">x</a>`).join('')
    const { body } = await send({ to, html: links })
    await settled(body.id, ['delivered'])
    const { body: sandbox } = await app.call('GET', `/api/v1/sandbox/messages?to=${to}`)
    const paths = [...sandbox.data[0].html.matchAll(/href="http:\/\/test(\/t\/[^"]+)"/g)].map(
      ([, path]) => path as string,
    )
    await app.pools.db.run(sql`
      update messages
         set sent_at = now() - interval '1 hour', delivered_at = now() - interval '1 hour'
       where account_id = ${app.accountId} and recipient = ${to}`)
    return { id: body.id as string, paths }
  }
  const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' }
  const click = (path = '') => app.call('GET', path, { key: null, headers })
  async function clicksOf(id: string) {
    const { body: message } = await app.call('GET', `/api/v1/messages/${id}`)
    return message.events
      .filter(({ type }: { type: string }) => type === 'click')
      .map(({ classification, classification_reason }: Record<string, string>) =>
        [classification, classification_reason].join(' '),
      )
  }

  test('a link that is clicked twice is one link, and two links at once are a machine, the first too', async () => {
    const { id, paths } = await linksTo('double@example.com')
    for (const path of [paths[0], paths[0]]) await click(path)
    assert.deepEqual(await clicksOf(id), ['human ordinary', 'human ordinary'])
    await click(paths[1])
    assert.deepEqual(await clicksOf(id), Array(3).fill('robot many_links_at_once'))
  })

  test('links that are followed in the same moment are a machine’s, and are counted so', async () => {
    const { id, paths } = await linksTo('same-moment@example.com')
    const engagement = async () => (await app.call('GET', '/api/v1/stats/engagement')).body
    const before = await engagement()
    await Promise.all(paths.map(click))
    assert.deepEqual(await clicksOf(id), Array(3).fill('robot many_links_at_once'))
    const after = await engagement()
    assert.deepEqual(after.clicks, before.clicks)
    assert.equal(after.filtered.robot_clicks, before.filtered.robot_clicks + 3)
  })

  test('are left out where the message or the account says so', async () => {
    const { key } = await app.makeAccount()
    const htmlOf = async (to: string, more: object) => {
      const { body } = await send({ to, html: '<a href="https://example.org/">x</a>', ...more }, key)
      await settled(body.id, ['delivered'], key)
      return (await app.call('GET', `/api/v1/sandbox/messages?to=${to}`, { key })).body.data[0].html as string
    }
    assert.doesNotMatch(await htmlOf('a@example.com', { track_opens: false, track_clicks: false }), /\/t\//)
    await app.call('PUT', '/api/v1/settings', { key, body: { open_tracking: 'off', click_tracking: false } })
    assert.doesNotMatch(await htmlOf('b@example.com', { track_opens: true, track_clicks: true }), /\/t\//)
    await app.call('PUT', '/api/v1/settings', { key, body: { open_tracking: 'consented_only' } })
    const said = (email: string, tracking_consent: boolean) =>
      app.call('POST', '/v3/contacts', { key, body: { email, tracking_consent } })
    await Promise.all([said('yes@example.com', true), said('no@example.com', false)])
    assert.match(await htmlOf('yes@example.com', {}), /\/t\//)
    assert.doesNotMatch(await htmlOf('no@example.com', {}), /\/t\//)
    assert.doesNotMatch(await htmlOf('unknown@example.com', {}), /\/t\//)
  })
})
