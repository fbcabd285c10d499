import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'

const app = await makeApp()

const versionsOf = (count: number, params: object) =>
  Array.from({ length: count }, (_, n) => ({ to: [{ email: `reader-${n}@example.com` }], params }))

function send(htmlContent: string, messageVersions: object[]) {
  const body = { sender: { email: 'shop@example.com' }, subject: 'Hello', htmlContent, messageVersions }
  return app.call('POST', '/v3/smtp/email', { body })
}

const forEach = (name: string, body: string) => `{% for ${name} in params.l %}${body}{% endfor %}`

test('the renderings of one call are stopped together, and the service answers meanwhile', async () => {
  const slow = forEach('a', forEach('b', forEach('c', '{% if c == 999999 %}x{% endif %}')))
  // None of them takes so long that it would be stopped by itself, also on a busy machine.
  const versions = versionsOf(400, { l: Array.from({ length: 20 }, (_, n) => n) })
  let isAnswered = false
  const sending = send(slow, versions).finally(() => {
    isAnswered = true
  })
  let alive = 0
  while (!isAnswered) {
    assert.equal((await app.call('GET', '/livez')).status, 200)
    alive++
  }
  const { status, body } = await sending
  assert.deepEqual([status, body.code], [400, 'invalid_parameter'])
  assert.match(body.message, /take too long to render together/)
  assert.ok(alive >= 5, `asked ${alive} times`)
})

test('a thousand versions of a template with a list and a condition pass', async () => {
  const line = '{% if i.sale %}<b>sale</b>{% endif %}<p>{{ i.name | upper }} {{ i.price }}</p>'
  const list = Array.from({ length: 10 }, (_, n) => ({
    name: `thing ${n}`,
    price: '3.50',
    sale: n % 2 === 0,
  }))
  const { status, body } = await send(forEach('i', line), versionsOf(1000, { l: list }))
  assert.deepEqual([status, body.messageIds?.length], [201, 1000])
})
