import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { readId } from '../../kernel/id.ts'
import { sql } from '../../kernel/sql.ts'
import { isBodyApart, loadDue } from './delivery-queries.ts'
import { sendingWith } from './fixtures/sending.ts'

const app = await makeApp({
  deliver: true,
  env: { POSTHORN_RETRY_FACTOR: '0.001', POSTHORN_RATE_LIMIT_FACTOR: '100' },
})

const { send, settled, sendTo } = sendingWith(app)
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()

describe('a message', () => {
  test('is accepted, captured, delivered, and can be read back', async () => {
    const { status, body } = await send({
      to: 'Anna <Anna@Example.com>',
      html: '<p>Grüße <b>an</b> {{ name }}</p>',
      tag: 'welcome',
      metadata: { order: '7' },
      headers: { 'X-Order': '7' },
      attachments: [{ filename: 'a.txt', content: Buffer.from('attached').toString('base64') }],
    })
    assert.equal(status, 202)
    assert.deepEqual([body.status, body.to, body.tag], ['queued', 'Anna@example.com', 'welcome'])
    const message = await settled(body.id, ['delivered'])
    assert.deepEqual(
      [message.from, message.to, message.metadata, message.attempts, message.last_error],
      ['Shop <shop@example.com>', 'anna@example.com', { order: '7' }, 1, null],
    )
    assert.deepEqual(
      message.events.map((event: { type: string }) => event.type),
      ['delivery'],
    )
    const { body: sandbox } = await app.call('GET', '/api/v1/sandbox/messages?to=anna@example.com')
    const [captured] = sandbox.data
    assert.deepEqual([captured.message_id, captured.subject], [body.id, 'Hello'])
    assert.match(captured.html, /Grüße <b>an<\/b> \{\{ name \}\}/)
    const raw = await app.call('GET', `/api/v1/sandbox/messages/${captured.id}/raw`)
    assert.equal(raw.headers.get('content-type'), 'message/rfc822')
    assert.match(raw.text, /^From: Shop <shop@example\.com>\r\n/m)
    assert.match(raw.text, /^X-Order: 7\r\n/m)
    assert.ok(raw.text.includes(body.message_id))
  })

  test('with params is a template; without, it is sent as it stands', async () => {
    const { body } = await send({
      to: 'bo@example.com',
      subject: 'Hi {{ params.name }}',
      html: '<p>{{ params.name }}</p>',
      params: { name: 'B<o>' },
      track_opens: false,
    })
    await settled(body.id, ['delivered'])
    const { body: sandbox } = await app.call('GET', '/api/v1/sandbox/messages?to=bo@example.com')
    assert.deepEqual([sandbox.data[0].subject, sandbox.data[0].html.trim()], ['Hi B<o>', '<p>B&lt;o&gt;</p>'])
  })

  test('that is large is read when its turn comes, not with all that wait', async () => {
    const text = randomBytes(60_000).toString('base64')
    const { body } = await send({ to: 'large@example.com', text, scheduled_at: inAnHour() })
    const light = await send({ to: 'light@example.com', text: 'Hi.', scheduled_at: inAnHour() })
    const ids = [body.id, light.body.id].map((id) => readId('msg', id) ?? '')
    const found = await loadDue(app.pools.db, ids)
    const shown = found.map((due) => [isBodyApart(due), due.parts?.text?.length])
    assert.deepEqual(shown.sort(), [
      [false, 3],
      [true, undefined],
    ])
    await app.pools.db.run(
      sql`update delivery_queue set due_at = now() where message_id = any(${ids}::uuid[])`,
    )
    await settled(body.id, ['delivered'])
    const { body: sandbox } = await app.call('GET', '/api/v1/sandbox/messages?to=large@example.com')
    assert.equal(sandbox.data[0].text.replace(/\s/g, ''), text)
  })

  test('that is scheduled waits for its time', async () => {
    const at = new Date(Date.now() + 3_600_000).toISOString()
    const { body } = await send({ to: 'later@example.com', scheduled_at: at })
    assert.equal(body.scheduled_at, at)
    await sendTo('success@simulator.posthorn.test', ['delivered'])
    assert.equal((await app.call('GET', `/api/v1/messages/${body.id}`)).body.status, 'queued')
  })

  test('is listed by status, tag and recipient, newest first', async () => {
    const { key } = await app.makeAccount()
    for (const [to, tag] of [
      ['x@example.com', 'a'],
      ['y@example.com', 'b'],
      ['x@example.com', 'b'],
    ]) {
      const { body } = await send({ to, tag }, key)
      await settled(body.id, ['delivered'], key)
    }
    const list = async (query: string) =>
      (await app.call('GET', `/api/v1/messages${query}`, { key })).body.data.map(
        (one: { to: string; tag: string }) => one.to[0] + one.tag,
      )
    assert.deepEqual(await list(''), ['xb', 'yb', 'xa'])
    assert.deepEqual(await list('?tag=b'), ['xb', 'yb'])
    assert.deepEqual(await list('?to=X@EXAMPLE.com'), ['xb', 'xa'])
    assert.deepEqual(await list('?status=delivered&tag=a'), ['xa'])
    assert.deepEqual(await list('?status=failed'), [])
  })

  test('of another account is not found', async () => {
    const { body } = await send({ to: 'mine@example.com' })
    const other = await app.makeAccount()
    assert.equal((await app.call('GET', `/api/v1/messages/${body.id}`, { key: other.key })).status, 404)
  })
})

describe('the simulator', () => {
  test('a hard bounce fails the message and suppresses the address', async () => {
    const message = await sendTo('hard-bounce+1@simulator.posthorn.test', ['failed'])
    assert.deepEqual(
      [message.events[0].type, message.events[0].bounce_type, message.last_error.enhanced_code],
      ['bounce', 'hard', '5.1.1'],
    )
    const again = await send({ to: 'hard-bounce+1@simulator.posthorn.test' })
    assert.deepEqual([again.status, again.body.error.code], [422, 'recipient_suppressed'])
    assert.equal(again.body.error.action.operation, 'suppression.delete')
  })

  test('soft bounces suppress when they go on for days, not when they come on one bad evening', async () => {
    const to = 'soft-bounce+2@simulator.posthorn.test'
    for (let i = 0; i < 6; i++) assert.equal((await sendTo(to, ['failed'])).events[0].bounce_type, 'soft')
    await app.pools.db.run(sql`
      update soft_bounces
         set bounced_at = array[now() - interval '1 day', now() - interval '2 days', now() - interval '3 days',
                                now() - interval '4 days']
       where email = ${to}`)
    await sendTo(to, ['failed'])
    assert.equal((await send({ to })).status, 422)
    const { body } = await app.call('GET', `/api/v1/suppressions?email=${encodeURIComponent(to)}`)
    assert.equal(body.data[0].reason, 'soft_bounce_limit')
  })

  test('a complaint suppresses and leaves the message delivered', async () => {
    const message = await sendTo('complaint@simulator.posthorn.test', ['delivered'])
    assert.deepEqual(
      message.events.map((event: { type: string }) => event.type),
      ['delivery', 'complaint'],
    )
    assert.equal((await send({ to: 'complaint@simulator.posthorn.test' })).status, 422)
  })

  test('deferred twice, then accepted', async () => {
    const message = await sendTo('defer@simulator.posthorn.test', ['delivered'])
    assert.equal(message.attempts, 3)
  })

  test('a refusal by policy fails and does not suppress', async () => {
    const message = await sendTo('reject@simulator.posthorn.test', ['failed'])
    assert.equal(message.last_error.smtp_code, 554)
    assert.equal((await send({ to: 'reject@simulator.posthorn.test' })).status, 202)
  })
})

describe('a send is refused', () => {
  const refused = async (body: object, code: string, status = 422) => {
    const reply = await send({ to: 'a@example.com', ...body })
    assert.deepEqual([reply.status, reply.body.error?.code], [status, code], reply.text)
    return reply.body.error
  }

  test('without content, subject, sender or a valid recipient', async () => {
    await refused({ text: undefined }, 'content_missing')
    await refused({ subject: undefined }, 'content_missing')
    await refused({ from: undefined }, 'missing_parameter')
    await refused({ to: 'nobody' }, 'recipient_invalid')
    await refused({ to: { email: 'ä@example.com' } }, 'recipient_invalid')
    await refused({ template_id: 99 }, 'template_invalid')
    await refused({ html: '{% if %}', params: {} }, 'template_invalid')
  })

  test('with anything that would reach into a header', async () => {
    await refused({ subject: 'a\r\nBcc: x@example.com' }, 'invalid_parameter')
    await refused({ from: 'Shop\r\nBcc: x@example.com <shop@example.com>' }, 'invalid_parameter')
    await refused({ headers: { 'X-A': 'b\r\nBcc: c' } }, 'invalid_parameter')
    await refused({ headers: { 'X-A\r\nBcc': 'c' } }, 'invalid_parameter')
    for (const name of ['From', 'To', 'Bcc', 'DKIM-Signature', 'Received', 'Return-Path']) {
      await refused({ headers: { [name]: 'x' } }, 'invalid_parameter')
    }
  })

  test('too far ahead, too late, with broken attachments', async () => {
    await refused({ scheduled_at: new Date(Date.now() + 31 * 86_400_000).toISOString() }, 'invalid_parameter')
    await refused({ scheduled_at: new Date(Date.now() - 6 * 60_000).toISOString() }, 'invalid_parameter')
    await refused({ attachments: [{ filename: 'a', content: 'not base64!' }] }, 'invalid_parameter')
  })

  test('from a domain the key may not use, or past its cap', async () => {
    const foreign = await app.makeKey({ senderDomains: ['other.example'] })
    const reply = await send({ to: 'a@example.com' }, foreign.key)
    assert.deepEqual([reply.status, reply.body.error.code], [403, 'sender_domain_not_allowed'])
    const capped = await app.makeKey({ dailyCap: 5 })
    const replies = await Promise.all(
      Array.from({ length: 12 }, () => send({ to: 'a@example.com' }, capped.key)),
    )
    assert.equal(replies.filter(({ status }) => status === 202).length, 5)
    const late = replies.find(({ status }) => status === 429)
    assert.equal(late?.body.error.code, 'daily_cap_reached')
    assert.ok(Number(late?.headers.get('retry-after')) > 0)
    const { body } = await app.call('GET', '/api/v1/usage', { key: capped.key })
    assert.deepEqual([body.key.used_today, body.key.remaining], [5, 0])
  })
})

test('an address suppressed after acceptance is not written to', async () => {
  const at = new Date(Date.now() + 3_600_000).toISOString()
  const { body } = await send({ to: 'soon@example.com', scheduled_at: at })
  assert.equal(
    (await app.call('POST', '/api/v1/suppressions', { body: { email: 'SOON@example.com' } })).status,
    201,
  )
  // Its time comes after that, however slow the machine is.
  await app.pools.db.run(
    sql`update delivery_queue set due_at = now() where message_id = ${readId('msg', body.id) ?? ''}`,
  )
  assert.equal((await settled(body.id, ['suppressed', 'delivered'])).status, 'suppressed')
  assert.equal((await app.call('DELETE', '/api/v1/suppressions/soon%40example.com')).status, 200)
  assert.equal((await app.call('DELETE', '/api/v1/suppressions/soon%40example.com')).status, 404)
})

test('200 sends at once are all accepted and all delivered once', async () => {
  const replies = await Promise.all(
    Array.from({ length: 200 }, (_, i) => send({ to: `many${i}@example.com`, tag: 'many' })),
  )
  assert.ok(replies.every(({ status }) => status === 202))
  for (const { body } of replies) await settled(body.id, ['delivered'])
  let cursor = ''
  const seen: string[] = []
  do {
    const { body } = await app.call(
      'GET',
      `/api/v1/sandbox/messages?limit=200${cursor && `&cursor=${cursor}`}`,
    )
    seen.push(...body.data.map((one: { to: string }) => one.to).filter((to: string) => to.startsWith('many')))
    cursor = body.next_cursor ?? ''
  } while (cursor)
  assert.equal(new Set(seen).size, 200)
  assert.equal(seen.length, 200)
})
