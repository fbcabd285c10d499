import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { until } from '../../../test/until.ts'

const app = await makeApp({ deliver: true })
const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

async function captured(to: string): Promise<{ html: string; text: string }> {
  return until(async () => {
    const { body } = await app.call('GET', `/api/v1/sandbox/messages?to=${to}`)
    return body.data[0]
  }, `the message to ${to}`)
}

function pageIn(text: string): string {
  const path = /http:\/\/test(\/mirror\/[\w-]+)/.exec(text)?.[1]
  assert.ok(path, text)
  return path
}

const open = (path: string) => app.call('GET', path, { key: null })

async function send(to: string, content: object): Promise<{ html: string; text: string }> {
  const body = { from: 'shop@example.com', to, subject: 'Your order', params: { order: '<7>' }, ...content }
  assert.equal((await app.call('POST', '/api/v1/transactional/send', { body })).status, 202)
  return captured(to)
}

test('a message is a page for whoever holds its link, with the links and images of its recipient', async () => {
  const mail = await send('ann@example.org', {
    html: [
      '<p>Order {{ params.order }}</p><img src="cid:dot"><img src="cid:none">',
      '<a href="{{ mirror }}">page</a> <a href="{{ unsubscribe }}">leave</a>',
    ].join(''),
    attachments: [{ filename: 'dot.png', content: dot, content_type: 'image/png', content_id: 'dot' }],
  })
  const path = pageIn(mail.html)
  const page = await open(path)
  assert.equal(page.status, 200)
  assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'.*sandbox/)
  const leave = /http:\/\/test\/u\/[\w.-]+/.exec(mail.html)?.[0]
  assert.ok(leave && page.text.includes(leave), page.text)
  assert.ok(page.text.includes('<p>Order &lt;7&gt;</p>'), page.text)
  assert.ok(page.text.includes('<title>Your order</title>'), page.text)
  assert.ok(page.text.includes(`<img src="data:image/png;base64,${dot}"><img src="cid:none">`), page.text)
  assert.equal((await open(`${path.slice(0, -2)}xx`)).status, 404)
})

test('an image that is named again and again is shown as often as a message could carry it', async () => {
  const content = Buffer.alloc(3 * 1024 * 1024, 7).toString('base64')
  const mail = await send('dora@example.org', {
    html: `${'<img src="cid:big">'.repeat(1_000)}<a href="{{ mirror }}">page</a>`,
    attachments: [{ filename: 'big.png', content, content_type: 'image/png', content_id: 'big' }],
  })
  const { status, text } = await open(pageIn(mail.html))
  assert.equal(status, 200)
  assert.deepEqual([text.split('"data:image/png').length - 1, text.split('"cid:big"').length - 1], [6, 994])
})

test('one of text alone is shown as it stands', async () => {
  const mail = await send('bob@example.org', { text: 'Order {{ params.order }} & more: {{ mirror }}' })
  const page = await open(pageIn(mail.text))
  assert.match(page.text, /<pre[^>]*>Order &lt;7&gt; &amp; more: http:/)
  // A long address would make the page wider than a telephone, and all of it smaller.
  assert.match(page.text, /<pre style="[^"]*overflow-wrap:anywhere"/)
})

test('the provider’s namespace has it too; the page goes with the person', async () => {
  const body = {
    sender: { email: 'shop@example.com' },
    to: [{ email: 'cleo@example.org' }],
    subject: 'Hello',
    htmlContent: '<p>Hello, <a href="{{ mirror }}">this as a page</a></p>',
  }
  assert.equal((await app.call('POST', '/v3/smtp/email', { body })).status, 201)
  const path = pageIn((await captured('cleo@example.org')).html)
  assert.equal((await open(path)).status, 200)
  const erased = { email: 'cleo@example.org', confirm: true }
  assert.equal((await app.call('POST', '/api/v1/contacts/erase', { body: erased })).status, 200)
  assert.equal((await open(path)).status, 404)
})
