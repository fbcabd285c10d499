import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { sendingWith } from '../fixtures/sending.ts'

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
    for (const forged of ['/t/x', click.slice(0, -3), `${click.slice(0, -4)}AAAA`])
      assert.equal((await app.call('GET', forged, { key: null })).status, 404)
    const mutilated = await app.call('GET', open.replace('.gif', 'A.gif'), { key: null })
    assert.deepEqual([mutilated.status, mutilated.headers.get('content-type')], [200, 'image/gif'])
    const { body: message } = await app.call('GET', `/api/v1/messages/${body.id}`)
    const types = message.events.map((event: { type: string }) => event.type).sort()
    assert.deepEqual(types, ['click', 'delivery', 'open', 'open'])
    assert.equal(message.events.find((event: { type: string }) => event.type === 'click').url, link)
  })

  test('a link that is clicked twice is one link, and two links at once are a machine', async () => {
    const links = ['https://example.org/a', 'https://example.org/b']
    const html = links.map((link) => `<a href="${link}">x</a>`).join('')
    const { body } = await send({ to: 'double@example.com', html })
    await settled(body.id, ['delivered'])
    const { body: sandbox } = await app.call('GET', '/api/v1/sandbox/messages?to=double@example.com')
    const [first = '', second = ''] = [
      ...sandbox.data[0].html.matchAll(/href="http:\/\/test(\/t\/[^"]+)"/g),
    ].map(([, path]) => path as string)
    const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' }
    for (const path of [first, first, second]) await app.call('GET', path, { key: null, headers })
    const { body: message } = await app.call('GET', `/api/v1/messages/${body.id}`)
    const clicks = message.events.filter(({ type }: { type: string }) => type === 'click')
    const reasons = clicks.map((one: { classification_reason: string }) => one.classification_reason)
    assert.deepEqual(reasons.map((reason: string) => reason === 'many_links_at_once').sort(), [
      false,
      false,
      true,
    ])
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
