import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { until } from '../../../test/until.ts'
import { readId } from '../../kernel/id.ts'
import { int, row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { recordBounce, recordComplaint, recordDelivery } from '../messages/record-event.ts'
import { simulated, simulatedVerdicts } from '../messages/simulator.ts'
import { harmless, sources } from './sources.ts'

const app = await makeApp({
  deliver: true,
  env: { POSTHORN_RATE_LIMIT_FACTOR: '100' },
})
const { db } = app.pools

const send = (to: string, key: string, more = {}) =>
  app.call('POST', '/api/v1/transactional/send', {
    key,
    body: { from: 'shop@example.com', to, subject: 'Hello', html: '<p>Hi</p>', ...more },
    headers: { 'idempotency-key': `k ${to} ${JSON.stringify(more)}` },
  })

/** An account in which a person has left traces everywhere, and somebody of a similar address too. */
async function makeTraces(email: string) {
  const { accountId, key } = await app.makeAccount()
  const other = `x${email}`
  await app.call('PUT', '/api/v1/settings', { key, body: { default_sender: { email: 'shop@example.com' } } })
  for (const one of [email, other]) {
    await app.call('POST', '/v3/contacts', {
      key,
      body: { email: one, attributes: { FIRSTNAME: 'Ann' }, consentSource: 'shop', consent_ip: '192.0.2.1' },
    })
    await app.call('POST', `/v3/contacts/${one}/tags`, { key, body: { tags: ['vip'] } })
    const event = { event_name: 'seen', identifiers: { email_id: one }, event_properties: { by: one } }
    await app.call('POST', '/v3/events', { key, body: event })
    const left = { email: one, cart: { id: 'c1' } }
    await app.call('POST', '/api/v1/automations/abandoned-cart', { key, body: left })
    const { body } = await send(one, key)
    await until(async () => {
      const reply = await app.call('GET', `/api/v1/messages/${body.id}`, { key })
      return reply.body.status === 'delivered'
    }, 'the message to be delivered')
  }
  const both = {
    sender: { email: 'shop@example.com' },
    to: [{ email }, { email: other }],
    subject: 'x',
    textContent: 'x',
  }
  await app.call('POST', '/v3/smtp/email', { key, body: both })
  await until(async () => {
    const reply = await app.call('GET', '/api/v1/messages?status=delivered', { key })
    return reply.body.data.length === 4
  }, 'all messages to be delivered')
  return { accountId, key, other }
}

const erase = (email: string, key: string, confirm: boolean | undefined = true) =>
  app.call('POST', '/api/v1/contacts/erase', { key, body: { email, confirm } })

/** In how many rows of each table of the account the address stands, in whatever column. */
async function tracesOf(accountId: string, email: string): Promise<Record<string, number>> {
  const Table = row<{ name: string }>({ name: text })
  const Count = row<{ n: number }>({ n: int })
  const tables = await db.many(
    Table,
    sql`select table_name::text as name from information_schema.columns
         where table_schema = 'public' and column_name = 'account_id' order by 1`,
  )
  const found: Record<string, number> = {}
  for (const { name } of tables) {
    const statement = Object.assign(sql``, {
      strings: [
        `select count(*)::int as n from ${name} t where account_id = `,
        ` and (position(`,
        ` in lower(t::text)) > 0 or position(`,
        ` in lower(t::text)) > 0)`,
      ],
      values: [accountId, email, Buffer.from(email).toString('hex')],
    })
    const { n } = await db.one(Count, statement)
    if (n > 0) found[name] = n
  }
  return found
}

describe('erasing a person', () => {
  test('leaves no trace in any table, and nobody else is touched', async () => {
    const { accountId, key, other } = await makeTraces('ann@example.com')
    const before = await tracesOf(accountId, 'xann@example.com')
    const { status, body, text: raw } = await erase('Ann@Example.com', key)
    assert.equal(status, 200, raw)
    assert.equal(body.suppressed, true)
    assert.deepEqual([body.erased.contact, body.erased.messages, body.erased.consents], [1, 2, 1])
    assert.deepEqual([body.erased.custom_events, body.erased.automation_runs], [1, 1])
    const left = await tracesOf(accountId, 'ann@example.com')
    assert.deepEqual(left, await tracesOf(accountId, other))
    assert.ok((before.messages ?? 0) === 2 && (left.messages ?? 0) === 2)
  })

  test('the address is never written to again, by any way', async () => {
    const { key } = await makeTraces('bob@example.com')
    await erase('bob@example.com', key)
    const again = await send('bob@example.com', key)
    assert.deepEqual([again.status, again.body.error.code], [422, 'recipient_suppressed'])
    const listed = await app.call('GET', '/api/v1/suppressions', { key })
    assert.deepEqual([listed.body.data[0].email, listed.body.data[0].erased], [null, true])
    const kept = await app.call('DELETE', '/api/v1/suppressions/bob%40example.com', { key })
    assert.deepEqual([kept.status, kept.body.error.code], [409, 'conflict'])
    assert.match(kept.body.error.message, /erased/)
    const found = await app.call('GET', '/api/v1/suppressions?email=BOB@example.com', { key })
    assert.equal(found.body.data.length, 1)
    await app.call('POST', '/api/v1/suppressions', { key, body: { email: 'bob@example.com' } })
    assert.equal((await app.call('GET', '/api/v1/suppressions', { key })).body.data.length, 1)
  })

  test('needs a confirmation, and an unknown address is suppressed with counts of nothing', async () => {
    const { key } = await app.makeAccount()
    const codeFor = async (email: string) => (await erase(email, key, false)).body.error.code
    assert.equal(await codeFor('who@example.com'), 'confirmation_required')
    assert.equal(await codeFor('nobody'), 'invalid_parameter')
    const { body } = await erase('who@example.com', key)
    assert.deepEqual(new Set(Object.values(body.erased)), new Set([0]))
    assert.equal((await send('who@example.com', key)).status, 422)
    assert.equal((await erase('who@example.com', key)).status, 200)
  })

  test('while a message is on its way leaves nothing of it either', async () => {
    const { accountId, key } = await app.makeAccount()
    const sending = Array.from({ length: 30 }, (_, i) => send('fast@example.com', key, { tag: `n${i}` }))
    await Promise.all(sending)
    await Promise.all([erase('fast@example.com', key), send('other@example.com', key)])
    await until(async () => {
      const { n } = await db.one(
        row<{ n: number }>({ n: int }),
        sql`select count(*)::int as n from delivery_queue where account_id = ${accountId}`,
      )
      return n === 0
    }, 'the queue to be empty')
    assert.deepEqual(await tracesOf(accountId, 'fast@example.com'), {})
  })

  test('goes through a log that is too long for one statement', async () => {
    const { accountId, key } = await app.makeAccount()
    await db.run(sql`
      insert into audit_lines (id, account_id, at, key_id, operation, params, status, request_id)
      select uuidv7(), ${accountId}, now(), gen_random_uuid(), 'x',
             case when n % 9999 = 0 then '{"to": "Long@example.com"}'::jsonb
                  else jsonb_build_object('to', n || 'long@example.com') end, 200, 'r'
        from generate_series(0, 45000) n`)
    const { body: held } = await app.call('GET', '/api/v1/contacts/export?email=long@example.com', { key })
    // Its own line is not there yet.
    assert.equal(held.action_log.length, 5)
    const { body, text: raw } = await erase('long@example.com', key)
    assert.ok(body.erased?.action_log >= 5, raw)
    const others = sql`
      select count(*)::int as n from audit_lines
       where account_id = ${accountId} and params ->> 'to' like '%long@example.com'`
    assert.equal((await db.one(row<{ n: number }>({ n: int }), others)).n, 45_001 - 5)
    assert.equal((await tracesOf(accountId, '"long@example.com')).audit_lines, undefined)
  })

  test('is not undone by what is heard of their messages later', async () => {
    const { accountId, key } = await app.makeAccount()
    const { body } = await send('late@example.com', key)
    const told = {
      id: readId('msg', body.id) ?? '',
      accountId,
      recipient: 'late@example.com',
      at: new Date(),
    }
    await erase('late@example.com', key)
    for (const verdict of [simulatedVerdicts.soft, simulatedVerdicts.hard])
      await db.transaction((tx) => recordBounce(tx, told, simulated.softBounce, verdict))
    await db.transaction((tx) => recordComplaint(tx, told, 'abuse'))
    await db.transaction((tx) => recordDelivery(tx, told, '250'))
    assert.deepEqual(await tracesOf(accountId, 'late@example.com'), {})
  })

  test('in one account does nothing in another', async () => {
    const [one, two] = [await makeTraces('carl@example.com'), await makeTraces('carl@example.com')]
    const before = await tracesOf(two.accountId, 'carl@example.com')
    await erase('carl@example.com', one.key)
    assert.deepEqual(await tracesOf(two.accountId, 'carl@example.com'), before)
    assert.equal((await send('carl@example.com', two.key)).status, 202)
  })
})

describe('exporting a person', () => {
  test('gives all that is held in one document', async () => {
    const { key } = await makeTraces('dora@example.com')
    const { status, body } = await app.call('GET', '/api/v1/contacts/export?email=Dora@example.com', { key })
    assert.equal(status, 200)
    assert.deepEqual(
      [body.email, body.contact.attributes, body.contact.tags],
      ['dora@example.com', { FIRSTNAME: 'Ann' }, ['vip']],
    )
    assert.deepEqual([body.messages.length, body.consents[0].ip, body.suppression], [2, '192.0.2.1', null])
    assert.ok(body.messages[0].events.length > 0 && body.messages[0].content.html)
    assert.ok(body.history.length >= 2 && body.action_log.length >= 2)
    assert.ok(!JSON.stringify(body).includes('account_id'))
  })

  test('writes every time and every identifier as the rest of the interface does', async () => {
    const { key } = await makeTraces('fred@example.com')
    await app.call('POST', '/api/v1/suppressions', { key, body: { email: 'fred@example.com' } })
    const { body, text: raw } = await app.call('GET', '/api/v1/contacts/export?email=fred@example.com', {
      key,
    })
    const found = raw.match(/"\d{4}-\d\d-\d\dT[^"]*"/g) ?? []
    assert.ok(found.length > 20)
    for (const one of found) assert.match(one, /^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"$/)
    assert.match(body.messages[0].id, /^msg_[0-9a-f]{32}$/)
    assert.match(body.messages[0].events[0].id, /^evt_[0-9a-f]{32}$/)
    const listed = await app.call('GET', `/api/v1/messages/${body.messages[0].id}`, { key })
    const ids = body.messages[0].events.map(({ id }: { id: string }) => id)
    assert.ok(ids.includes(listed.body.events[0].id))
    assert.match(body.automation_runs[0].id, /^run_/)
    assert.match(body.suppression.created_at, /Z$/)
  })

  test('of an unknown or another account’s address is a document of nothing', async () => {
    const { key } = await app.makeAccount()
    await makeTraces('emil@example.com')
    const { body } = await app.call('GET', '/api/v1/contacts/export?email=emil@example.com', { key })
    assert.deepEqual([body.contact, body.messages, body.suppression], [null, [], null])
    assert.equal((await app.call('GET', '/api/v1/contacts/export?email=nobody', { key })).status, 422)
  })
})

describe('a person who had another address before', () => {
  const move = async (from: string, key: string) => {
    const body = { attributes: { EMAIL: `new-${from}` } }
    assert.equal((await app.call('PUT', `/v3/contacts/${from}`, { key, body })).status, 204)
    return `new-${from}`
  }

  test('is exported and erased under all of them, and written to under none', async () => {
    const { accountId, key, other } = await makeTraces('gina@example.com')
    const conversion = { email: 'gina@example.com', amount: 5, currency: 'EUR' }
    await app.call('POST', '/v3/conversions', { key, body: conversion })
    await app.call('POST', '/api/v1/suppressions', { key, body: { email: 'gina@example.com' } })
    const to = await move(await move('gina@example.com', key), key)
    const { body: held } = await app.call('GET', `/api/v1/contacts/export?email=${to}`, { key })
    assert.deepEqual([held.email, held.messages.length, held.conversions.length], [to, 2, 1])
    const former = held.former_addresses.map(({ email }: { email: string }) => email)
    assert.deepEqual(former, ['gina@example.com', 'new-gina@example.com'])
    const [{ suppression, prospect }] = held.former_addresses
    assert.deepEqual([suppression.reason, prospect], ['manual', null])
    assert.match(suppression.created_at, /Z$/)
    const { body, text: raw } = await erase(to, key)
    assert.equal(body.erased?.messages, 2, raw)
    assert.deepEqual(await tracesOf(accountId, 'gina@example.com'), await tracesOf(accountId, other))
    for (const one of [to, ...former]) {
      assert.equal((await send(one, key)).status, 422)
      const kept = await app.call('DELETE', `/api/v1/suppressions/${one}`, { key })
      assert.equal(kept.status, 409)
    }
    assert.equal((await send(other, key)).status, 202)
  })

  test('takes nothing along of an address that is somebody else’s by now', async () => {
    const { key } = await makeTraces('hans@example.com')
    const to = await move('hans@example.com', key)
    await app.call('POST', '/v3/contacts', { key, body: { email: 'hans@example.com' } })
    const { body: held } = await app.call('GET', `/api/v1/contacts/export?email=${to}`, { key })
    assert.deepEqual([held.former_addresses, held.messages], [[], []])
    assert.equal((await erase(to, key)).body.erased.messages, 0)
    const theirs = await app.call('GET', '/api/v1/messages?to=hans@example.com', { key })
    assert.equal(theirs.body.data.length, 2)
    assert.equal((await send('hans@example.com', key)).status, 202)
  })
})

test('every table with a column about a person is known to the export and the erasure', async () => {
  const Column = row<{ name: string; column: string }>({ name: text, column: text })
  const columns = await db.many(
    Column,
    sql`
    select c.table_name::text as name, c.column_name::text as column
      from information_schema.columns c
     where c.table_schema = 'public'
       and exists (select 1
                     from information_schema.columns a
                    where a.table_schema = 'public' and a.table_name = c.table_name and a.column_name = 'account_id')
       and (c.column_name ~ '(^|_)(email|recipient|contact_id|message_id|phone|sms|ip|address|sender|reply|reply_to)$'
            or c.column_name in ('params', 'parts', 'raw', 'rows', 'faulty_rows', 'body'))
     union
    select 'upstream_unsuppressions', 'email'`,
  )
  const unknown = columns
    .filter(
      ({ name, column }) => !Object.hasOwn(sources, name) && !Object.hasOwn(harmless, `${name}.${column}`),
    )
    .map(({ name, column }) => `${name}.${column}`)
  assert.deepEqual(unknown, [])
})
