import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { int, row, texts } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { accepted, makeSmsApp, monday } from './fixtures/app.ts'

const app = await makeSmsApp({ sms: true })
const { send } = app

const countOf = async (accountId: string) => {
  const Count = row<{ count: number }>({ count: int })
  const statement = sql`select count(*)::int as count from sms_messages where account_id = ${accountId}`
  return (await app.db.one(Count, statement)).count
}

describe('an accepted SMS', () => {
  test('is answered in the provider’s shape, sent, delivered and readable', async () => {
    const { key } = await app.makeAccount()
    const reply = await send({ content: 'Votre code: 1234 €', tag: 'code' }, key)
    const id = accepted(reply)
    assert.ok(Number.isSafeInteger(id) && id > 1e15)
    assert.deepEqual(
      { ...reply.body, reference: '', messageId: 0 },
      { reference: '', messageId: 0, smsCount: 1, usedCredits: 1, remainingCredits: 999_999_999 },
    )
    await app.becomes(id, 'delivered')
    assert.deepEqual(await app.eventsOf(id), ['sent', 'delivered'])
    const { body } = await app.call('GET', '/api/v1/sandbox/sms?to=%2B33612345678', { key })
    assert.deepEqual(body.data, [
      {
        message_id: id,
        from: 'MyShop',
        to: '+33612345678',
        text: 'Votre code: 1234 €',
        type: 'transactional',
        encoding: 'gsm7',
        sms_count: 1,
        received_at: monday.toISOString(),
      },
    ])
  })

  test('has a twin with a shorter answer', async () => {
    const body = { sender: 'MyShop', recipient: '33612345678', content: 'Hello' }
    const reply = await app.call('POST', '/v3/transactionalSMS/send', { body })
    assert.deepEqual([reply.status, Object.keys(reply.body)], [201, ['messageId']])
  })

  test('is counted in its encoding, with prefix and accents composed', async () => {
    assert.equal((await send({ content: 'a'.repeat(161) })).body.smsCount, 2)
    assert.equal((await send({ content: 'ê'.repeat(71) })).body.smsCount, 2)
    assert.equal((await send({ content: 'e\u0301'.repeat(160) })).body.smsCount, 1)
    const id = accepted(await send({ content: 'Hello', organisationPrefix: 'Shop' }))
    assert.equal((await app.find(id)).content, 'Shop: Hello')
  })

  test('takes null and what it does not know', async () => {
    accepted(
      await send({ type: null, tag: null, templateId: null, params: null, unicodeEnabled: true, x: 1 }),
    )
    accepted(await send({ tag: ['a', 'b'], recipient: 33612345678, webUrl: 'https://example.com' }))
  })

  test('counts against the cap of its key, by parts', async () => {
    const { key } = await app.makeKey({ dailyCap: 3 })
    assert.equal((await send({ content: 'a'.repeat(300) }, key)).body.remainingCredits, 1)
    const refused = await send({ content: 'a'.repeat(300) }, key)
    assert.deepEqual([refused.status, refused.body.code], [429, 'not_enough_credits'])
    assert.equal((await send({}, key)).body.remainingCredits, 0)
  })

  test('says what is left of the cap after it, also where many are sent at once', async () => {
    const { key } = await app.makeKey({ dailyCap: 20 })
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => send({ content: 'a'.repeat(300) }, key)),
    )
    const left = replies.map(({ body }) => body.remainingCredits).sort((a, b) => b - a)
    assert.deepEqual(left, [18, 16, 14, 12, 10, 8, 6, 4, 2, 0])
  })

  test('is one however often its idempotency key comes', async () => {
    const { key, accountId } = await app.makeAccount()
    const body = { headers: { idempotencyKey: 'k1' } }
    const [first, again] = [await send(body, key), await send(body, key)]
    assert.deepEqual([again.status, again.body], [201, first.body])
    const other = await send({ ...body, content: 'Other' }, key)
    assert.deepEqual([other.status, await countOf(accountId)], [400, 1])
  })

  test('leaves neither its text nor its number in the action log', async () => {
    const { key } = await app.makeAccount()
    accepted(await send({ content: 'very secret', organisationPrefix: 'hidden' }, key))
    await send({ content: 'very secret', recipient: '+33612345679x' }, key)
    const { text, body } = await app.call('GET', '/api/v1/audit-logs', { key })
    assert.equal(body.data.filter((line: { operation: string }) => line.operation.includes('sms')).length, 2)
    assert.doesNotMatch(text, /very secret|hidden|612345678/)
  })

  test('needs the scope of sending', async () => {
    const { key } = await app.makeKey({ scopes: ['contacts.read'] })
    assert.equal((await send({}, key)).status, 403)
  })
})

test('what is wrong is refused with its reason', async () => {
  const { key, accountId } = await app.makeAccount()
  const wrong: [object, string, RegExp][] = [
    [{ recipient: undefined }, 'missing_parameter', /recipient/],
    [{ sender: '' }, 'missing_parameter', /sender/],
    [{ content: ' ' }, 'missing_parameter', /content/],
    [{ recipient: '+33123456789' }, 'invalid_parameter', /mobile/],
    [{ recipient: '0612345678' }, 'invalid_parameter', /country code/],
    [{ recipient: '9'.repeat(30) }, 'invalid_parameter', /country code/],
    [{ sender: '38400' }, 'invalid_parameter', /letter/],
    [{ type: 'promo' }, 'invalid_parameter', /transactional or marketing/],
    [{ templateId: 1 }, 'invalid_parameter', /templates/],
    [{ content: 'a'.repeat(1531) }, 'invalid_parameter', /11 SMS/],
    [{ tag: Array.from({ length: 11 }, (_, i) => `t${i}`) }, 'invalid_parameter', /10 tags/],
    [{ content: { a: 1 } }, 'invalid_parameter', /content/],
  ]
  for (const [given, code, words] of wrong) {
    const { status, body } = await send(given, key)
    assert.deepEqual([status, body.code], [400, code], JSON.stringify(given))
    assert.match(body.message, words)
  }
  const nul = await send({ content: 'a\0b' }, key)
  assert.ok(nul.status === 201 || nul.status === 400, nul.text)
  assert.equal(await countOf(accountId), nul.status === 201 ? 1 : 0)
})

describe('marketing', () => {
  const market = (body: object = {}) => send({ type: 'marketing', content: 'Sale!', ...body })
  const at = async (time: string, body: object = {}) => {
    app.clock.at = new Date(time)
    try {
      return await market(body)
    } finally {
      app.clock.at = monday
    }
  }

  test('names the way out, which is counted', async () => {
    const id = accepted(await market())
    assert.equal((await app.find(id)).content, 'Sale!\nSTOP 36111')
    const openNonStop = accepted(await market({ content: 'Ouvert non-stop, 75011 Paris' }))
    assert.equal((await app.find(openNonStop)).content, 'Ouvert non-stop, 75011 Paris\nSTOP 36111')
    assert.equal((await market({ content: 'a'.repeat(150) })).body.smsCount, 2)
    assert.equal((await send({ content: 'a'.repeat(150) })).body.smsCount, 1)
  })

  test('is refused outside its hours, to the second, with the rule and the next opening', async () => {
    for (const time of ['2026-11-16T07:00:00.000Z', '2026-11-16T18:59:59.999Z'])
      assert.equal((await at(time)).status, 201, time)
    for (const time of ['2026-11-16T06:59:59.999Z', '2026-11-16T19:00:00.000Z'])
      assert.equal((await at(time)).status, 422, time)
    const sunday = await at('2026-11-15T11:00:00Z')
    assert.deepEqual(
      [sunday.status, sunday.body.code, sunday.body.rule, sunday.body.retry_after_s],
      [422, 'sms_window_closed', 'sunday', 20 * 3600],
    )
    assert.equal(sunday.headers.get('retry-after'), String(20 * 3600))
    assert.equal(sunday.body.next_allowed_at, '2026-11-16T07:00:00.000Z')
    assert.match(sunday.body.message, /Sundays; the next opening is at 2026-11-16T07:00:00.000Z/)
    const holiday = await at('2026-11-11T11:00:00Z')
    assert.deepEqual([holiday.status, holiday.body.rule], [422, 'public_holiday'])
  })

  test('transactional SMS go at any time', async () => {
    assert.equal((await at('2026-11-15T03:00:00Z', { type: 'transactional' })).status, 201)
  })
})

describe('who wants no SMS', () => {
  const contact = (key: string, path = '', body: object = {}) =>
    app.call(path === '' ? 'POST' : 'PUT', `/v3/contacts${path}`, { key, body })

  test('a contact that is blacklisted gets none, from that account', async () => {
    const [one, other] = [await app.makeAccount(), await app.makeAccount()]
    const body = { email: 'ann@example.com', attributes: { SMS: '33612345678' }, smsBlacklisted: true }
    await contact(one.key, '', body)
    const refused = await send({}, one.key)
    assert.deepEqual([refused.status, refused.body.code], [422, 'recipient_suppressed'])
    assert.doesNotMatch(refused.text, /612345678/)
    accepted(await send({}, other.key))
    await contact(one.key, '/ann@example.com', { smsBlacklisted: false })
    accepted(await send({}, one.key))
  })

  test('stays so when the contact is deleted, and shows it when it is made again', async () => {
    const { accountId, key } = await app.makeAccount()
    const call = (method: string, path: string, body?: object) => app.call(method, path, { key, body })
    const ann = { email: 'ann@example.com', attributes: { SMS: '33612345678' } }
    await call('POST', '/v3/contacts', { ...ann, smsBlacklisted: true })
    await call('DELETE', '/v3/contacts/ann@example.com')
    assert.equal((await send({}, key)).status, 422)
    await call('POST', '/v3/contacts', ann)
    assert.equal((await call('GET', '/v3/contacts/ann@example.com')).body.smsBlacklisted, true)
    await call('PUT', '/v3/contacts/ann@example.com', { smsBlacklisted: false })
    accepted(await send({}, key))
    await call('PUT', '/v3/contacts/ann@example.com', { smsBlacklisted: true })
    await call('POST', '/api/v1/contacts/erase', { email: ann.email, confirm: true })
    const { phones } = await app.db.one(
      row<{ phones: string[] }>({ phones: texts }),
      sql`select array_agg(phone) as phones from sms_optouts where account_id = ${accountId}`,
    )
    assert.deepEqual([phones.length, phones[0]?.startsWith('erased:')], [1, true])
  })
})

test('two accounts see their own', async () => {
  const [one, other] = [await app.makeAccount(), await app.makeAccount()]
  const id = accepted(await send({}, one.key))
  await app.becomes(id, 'delivered')
  const seen = async (key: string) => {
    const events = await app.call('GET', '/v3/transactionalSMS/statistics/events', { key })
    const captured = await app.call('GET', '/api/v1/sandbox/sms', { key })
    return [events.body.events.length, captured.body.data.length]
  }
  assert.deepEqual(
    [await seen(one.key), await seen(other.key)],
    [
      [2, 1],
      [0, 0],
    ],
  )
})
