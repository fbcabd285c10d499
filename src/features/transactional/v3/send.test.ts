import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp, type Reply } from '../../../../test/app.ts'
import { until } from '../../../../test/until.ts'

const app = await makeApp({
  deliver: true,
  env: { POSTHORN_RETRY_FACTOR: '0.001', POSTHORN_RATE_LIMIT_FACTOR: '100' },
})

const plain = {
  sender: { email: 'shop@example.com', name: 'Shop' },
  subject: 'Hello',
  htmlContent: '<p>Hi {{ params.name }}.</p>',
}

function send(body: object, key = app.key): Promise<Reply> {
  return app.call('POST', '/v3/smtp/email', { key, body: { ...plain, ...body } })
}

const to = (...emails: string[]) => emails.map((email) => ({ email }))

async function captured(email: string, key = app.key) {
  return until(async () => {
    const { body } = await app.call('GET', `/api/v1/sandbox/messages?to=${encodeURIComponent(email)}`, {
      key,
    })
    return body.data[0]
  }, `mail to ${email}`)
}

async function rawOf(email: string): Promise<string> {
  return (await app.call('GET', `/api/v1/sandbox/messages/${(await captured(email)).id}/raw`)).text
}

async function statuses(key: string, query = ''): Promise<string[]> {
  const { body } = await app.call('GET', `/api/v1/messages${query}`, { key })
  return body.data.map((one: { to: string; status: string }) => `${one.to} ${one.status}`).sort()
}

async function suppress(email: string, key: string): Promise<void> {
  assert.equal((await app.call('POST', '/api/v1/suppressions', { key, body: { email } })).status, 201)
}

describe('a send', () => {
  test('gives each recipient a copy that shows To and Cc and never Bcc', async () => {
    const { status, body } = await send({
      to: [{ email: 'Ann@example.com', name: 'Ann' }, { email: 'ben@example.com' }],
      cc: to('cleo@example.com', 'ann@EXAMPLE.com'),
      bcc: to('dora@example.com'),
      replyTo: [{ email: 'answers@example.com' }],
      params: { name: 'A<b>' },
      headers: {
        'x-order': '7',
        'X-Mailin-custom': 'mine',
        charset: 'utf-8',
        'api-key': 'x',
        Authorization: 'x',
      },
      tags: ['one', 'two'],
      attachment: [{ name: 'a.txt', content: Buffer.from('attached').toString('base64') }],
    })
    assert.equal(status, 201)
    assert.deepEqual(Object.keys(body), ['messageId'])
    assert.match(body.messageId, /^<[0-9a-f]{32}@example\.com>$/)
    for (const email of ['ann@example.com', 'ben@example.com', 'cleo@example.com', 'dora@example.com']) {
      const raw = await rawOf(email)
      assert.match(raw, /^To: Ann <Ann@example\.com>, ben@example\.com\r\n/m)
      assert.match(raw, /^Cc: cleo@example\.com, ann@example\.com\r\n/im)
      assert.match(raw, /^Reply-To: answers@example\.com\r\n/m)
      assert.match(raw, /^X-Order: 7\r\n/m)
      assert.ok(raw.includes(body.messageId))
      assert.ok(!/^(bcc|x-mailin-custom|charset|api-key|authorization):/im.test(raw))
      assert.ok(!raw.split('\r\n\r\n')[0]?.includes('dora'))
      assert.ok(raw.includes('filename'))
    }
    assert.match((await captured('ben@example.com')).html, /Hi A&lt;b&gt;\./)
    const { body: list } = await app.call('GET', '/api/v1/messages?to=dora@example.com')
    assert.deepEqual([list.data[0].tag, list.data[0].metadata], ['one', { 'X-Mailin-custom': 'mine' }])
  })

  test('with versions gives an id to each, and each its own content', async () => {
    const { status, body } = await send({
      params: { name: 'all' },
      messageVersions: [
        { to: to('v1@example.com'), params: { name: 'first' }, subject: 'One' },
        { to: to('v2@example.com', 'v2b@example.com'), htmlContent: '<p>Own</p>' },
        { to: to('v3@example.com') },
      ],
    })
    assert.equal(status, 201)
    assert.deepEqual([Object.keys(body), new Set(body.messageIds).size], [['messageIds'], 3])
    const [one, two, three] = [
      await captured('v1@example.com'),
      await captured('v2b@example.com'),
      await captured('v3@example.com'),
    ]
    assert.deepEqual([one.subject, two.subject], ['One', 'Hello'])
    assert.match(one.html, /Hi first\./)
    assert.match(two.html, /Own/)
    assert.match(three.html, /Hi all\./)
  })

  test('takes the odd bodies of real clients', async () => {
    for (const odd of [
      { params: {}, headers: {}, tags: [], cc: [], bcc: [], replyTo: {}, attachment: [] },
      { params: [], headers: [], cc: null, bcc: null, replyTo: null, attachment: null, tags: null },
      { templateId: null, textContent: null, scheduledAt: null, batchId: null, messageVersions: null },
      { from: 'x', html: 'y', type: 'classic', to: [{ email: 'odd@example.com', name: '', extra: 1 }] },
      {
        subject: 7,
        htmlContent: null,
        textContent: 'text alone',
        sender: { email: ' shop@example.com', name: null },
      },
      { subject: 'two\r\nBcc: x@example.com' },
    ]) {
      const reply = await send({ to: to('odd@example.com'), ...odd })
      assert.equal(reply.status, 201, reply.text)
    }
    await captured('odd@example.com')
    assert.ok(!/^bcc:/im.test(await rawOf('odd@example.com')))
  })

  test('is refused in the provider’s words', async () => {
    const notATime = 'scheduledAt must be a time that exists, such as 2026-11-15T09:30:00Z'
    const refused: [object, string, string][] = [
      [{ sender: undefined }, 'missing_parameter', 'sender is missing'],
      [{ sender: { email: 'nobody' } }, 'invalid_parameter', 'valid sender email required'],
      [{ sender: { id: 3 } }, 'invalid_parameter', 'There is no sender 3.'],
      [{ to: undefined }, 'missing_parameter', 'to is missing'],
      [{ to: [] }, 'missing_parameter', 'to is missing'],
      [{ to: to('nobody') }, 'invalid_parameter', 'email is not valid in to'],
      [{ cc: to('nobody') }, 'invalid_parameter', 'email is not valid in cc'],
      [{ bcc: [{ name: 'x' }] }, 'missing_parameter', 'email is missing in bcc'],
      [{ replyTo: { email: 'nobody' } }, 'invalid_parameter', 'email is not valid in replyTo'],
      [{ htmlContent: '' }, 'missing_parameter', 'Either of htmlContent or textContent is required'],
      [{ subject: ' ' }, 'missing_parameter', 'subject is missing'],
      [{ templateId: 99 }, 'invalid_parameter', 'There is no template 99.'],
      [{ attachment: [{ content: 'AAAA' }] }, 'missing_parameter', 'name is missing in attachment'],
      [
        { attachment: [{ name: 'a.exe', content: 'AAAA' }] },
        'invalid_parameter',
        'a.exe has an extension that is not allowed',
      ],
      [
        { attachment: [{ name: 'a.txt', content: '!' }] },
        'invalid_parameter',
        'content is not valid in attachment',
      ],
      [{ scheduledAt: 'tomorrow' }, 'invalid_parameter', notATime],
      [{ scheduledAt: '2026-11-31T10:00:00Z' }, 'invalid_parameter', notATime],
      [
        { scheduledAt: '2019-01-01T00:00:00Z' },
        'invalid_parameter',
        'scheduledAt must lie within the next 30 days',
      ],
      [{ batchId: 'x' }, 'invalid_parameter', 'batchId must be a UUID'],
    ]
    for (const [body, code, message] of refused) {
      const reply = await send({ to: to('a@example.com'), ...body })
      assert.deepEqual([reply.status, reply.body.code, reply.body.message], [400, code, message])
    }
    const bad = await send({ to: to('a@example.com'), htmlContent: '<p>\n{% if %}</p>' })
    assert.match(bad.body.message, /line 2/)
    for (const name of ['Bcc', 'From', 'DKIM-Signature', 'X-A\r\nBcc']) {
      assert.equal(
        (await send({ to: to('a@example.com'), headers: { [name]: 'x@example.com' } })).status,
        400,
      )
    }
    const many = to(...Array.from({ length: 100 }, (_, i) => `m${i}@example.com`))
    assert.equal((await send({ messageVersions: [{ to: many }] })).status, 400)
  })

  test('in the sandbox is checked and answered, and leaves nothing behind', async () => {
    const { key } = await app.makeAccount()
    const headers = { 'X-Sib-Sandbox': 'drop' }
    const reply = await send({ to: to('a@example.com'), headers }, key)
    assert.equal(reply.status, 201)
    assert.ok(reply.body.messageId)
    assert.equal((await send({ to: to('nobody'), headers }, key)).status, 400)
    assert.deepEqual(await statuses(key), [])
  })
})

describe('suppressed recipients', () => {
  test('all: refused; some: recorded; compatible: accepted and recorded', async () => {
    const { key } = await app.makeAccount()
    await suppress('gone@example.com', key)
    const refused = await send({ to: to('gone@example.com') }, key)
    assert.deepEqual([refused.status, refused.body.code], [422, 'recipient_suppressed'])
    assert.deepEqual(await statuses(key), [])
    assert.equal((await send({ to: to('gone@example.com', 'here@example.com') }, key)).status, 201)
    await captured('here@example.com', key)
    assert.deepEqual(await statuses(key, '?to=gone@example.com'), ['gone@example.com suppressed'])
    const settings = { provider_compatibility: true }
    assert.equal((await app.call('PUT', '/api/v1/settings', { key, body: settings })).status, 200)
    assert.equal((await send({ to: to('gone@example.com') }, key)).status, 201)
    const { body } = await app.call('GET', '/v3/smtp/statistics/events?event=blocked', { key })
    assert.deepEqual(
      body.events.map((one: { email: string; reason: string }) => [one.email, one.reason]),
      [
        ['gone@example.com', 'manual'],
        ['gone@example.com', 'manual'],
      ],
    )
  })
})

test('a template reads the attributes of the contact it goes to, on both faces', async () => {
  const contact = { email: 'reader@example.com', attributes: { FIRSTNAME: 'R<a>' } }
  await app.call('POST', '/v3/contacts', { body: contact })
  const htmlContent = '<p>Dear {{ contact.FIRSTNAME }} {{ contact.NICK | default: "x" }}</p>'
  const body = { ...plain, to: to('Reader@example.com'), textContent: undefined, htmlContent }
  assert.equal((await app.call('POST', '/v3/smtp/email', { body })).status, 201)
  assert.match((await captured('reader@example.com')).html, /Dear R&lt;a&gt; x/)
  const own = {
    from: 'a@example.com',
    to: 'reader@example.com',
    subject: 'Hi {{ contact.FIRSTNAME }}',
    text: 'x',
  }
  const checked = await app.call('POST', '/api/v1/messages/validate', { body: { ...own, params: {} } })
  assert.equal(checked.body.rendered.subject, 'Hi R<a>')
})

test('a call that does not fit under the cap sends nothing at all', async () => {
  const { key } = await app.makeKey({ dailyCap: 3 }, (await app.makeAccount()).accountId)
  assert.equal((await send({ to: to('a@example.com', 'b@example.com') }, key)).status, 201)
  const late = await send({ to: to('c@example.com', 'd@example.com') }, key)
  assert.deepEqual([late.status, late.body.code], [429, 'not_enough_credits'])
  assert.match(late.body.message, /, 3 messages, leaves 1 today, and this needs 2\.$/)
  assert.equal((await statuses(key)).length, 2)
  assert.equal((await send({ to: to('c@example.com') }, key)).status, 201)
})

test('calls that share a transaction do not suffer from one that is taken back', async () => {
  const [capped, other] = [await app.makeAccount(), await app.makeAccount()]
  const { key } = await app.makeKey({ dailyCap: 1 }, capped.accountId)
  const replies = await Promise.all(
    Array.from({ length: 24 }, (_, i) =>
      i % 3 === 0
        ? send({ to: to('a@example.com', 'b@example.com') }, key)
        : send({ to: to(`n${i}@example.com`) }, other.key),
    ),
  )
  assert.deepEqual(
    replies.map(({ status }) => status),
    replies.map((_, i) => (i % 3 === 0 ? 429 : 201)),
  )
  assert.deepEqual([(await statuses(key)).length, (await statuses(other.key)).length], [0, 16])
})

test('an idempotency key in the body gives the first answer again', async () => {
  const { key } = await app.makeAccount()
  const body = { to: to('once@example.com'), headers: { idempotencyKey: 'abc-1' } }
  const [first, second] = [await send(body, key), await send(body, key)]
  assert.deepEqual([first.status, second.status, second.body], [201, 201, first.body])
  assert.equal(second.headers.get('idempotency-replayed'), 'true')
  assert.equal((await statuses(key)).length, 1)
  const other = await send({ ...body, subject: 'Other' }, key)
  assert.deepEqual([other.status, other.body.code], [400, 'idempotency_key_reused'])
})

describe('scheduled', () => {
  const at = () => new Date(Date.now() + 3_600_000).toISOString()

  test('is answered 202 with a batch, and cancelled by message or by batch', async () => {
    const { key } = await app.makeAccount()
    const { status, body } = await send({ to: to('a@example.com', 'b@example.com'), scheduledAt: at() }, key)
    assert.equal(status, 202)
    assert.deepEqual(Object.keys(body), ['messageId', 'batchId'])
    const cancel = (id: string) => app.call('DELETE', `/v3/smtp/email/${encodeURIComponent(id)}`, { key })
    const state = (id: string) => app.call('GET', `/v3/smtp/emailStatus/${encodeURIComponent(id)}`, { key })
    assert.equal((await state(body.messageId)).body.status, 'queued')
    assert.equal((await state(body.batchId)).body.count, 1)
    assert.equal((await cancel(body.messageId.slice(1, -1))).status, 204)
    assert.deepEqual(await statuses(key), ['a@example.com cancelled', 'b@example.com cancelled'])
    assert.equal((await cancel(body.messageId)).status, 404)
    const batchId = crypto.randomUUID()
    const versions = [{ to: to('c@example.com') }, { to: to('d@example.com') }]
    const batch = await send({ messageVersions: versions, scheduledAt: at(), batchId }, key)
    assert.deepEqual([batch.status, batch.body.batchId, batch.body.messageIds.length], [202, batchId, 2])
    assert.equal((await app.call('DELETE', `/v3/smtp/email/${batchId}`)).status, 404)
    assert.equal((await cancel(batchId)).status, 204)
    assert.equal((await statuses(key, '?status=cancelled')).length, 4)
    const { month, key: ofKey } = (await app.call('GET', '/api/v1/usage', { key })).body
    assert.deepEqual([month.sent, ofKey.used_today], [0, 0])
  })

  test('what has been sent cannot be cancelled', async () => {
    const { body } = await send({ to: to('sent@example.com') })
    await captured('sent@example.com')
    assert.equal(
      (await app.call('DELETE', `/v3/smtp/email/${encodeURIComponent(body.messageId)}`)).status,
      404,
    )
  })
})
