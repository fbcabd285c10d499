import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { int, json, maybe, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { readUnsubscribeToken, unsubscribeKeysOf } from '../../contacts/unsubscribe/tokens.ts'
import { onEvent, openRunning, secretKey, step } from '../fixtures/running.ts'

const { app, api, declare, happened, pass, subjects } = await openRunning()
const { db } = app.pools

const Run = row<{ status: string; reason: string | null; next_step: number }>({
  status: text,
  reason: maybe(text),
  next_step: int,
})

const runsOf = (accountId: string) =>
  db.many(
    Run,
    sql`select status, reason, next_step from automation_runs where account_id = ${accountId} order by id`,
  )

const Sent = row<{ id: string; parts: { html: string; headers: [string, string][] }; automation_id: string }>(
  {
    id: text,
    parts: json(),
    automation_id: text,
  },
)

const sentIn = (accountId: string) =>
  db.many(
    Sent,
    sql`
    select m.id, b.parts, m.automation_id
      from messages m
      join message_bodies b on b.message_id = m.id
     where m.account_id = ${accountId}
     order by m.id`,
  )

const update = (key: string, id: string, body: object) => api('PUT', `/api/v1/automations/${id}`, key, body)

describe('a run', () => {
  test('sends each step when it is due', async () => {
    const { accountId, key } = await app.makeAccount()
    await declare(key, onEvent('a', step(0, 'One'), step(60, 'Two'), step(0.5, 'Three')))
    await happened(key, 'a', 'anna@example.com')
    await happened(key, 'other', 'anna@example.com')
    assert.deepEqual(await subjects(key, 'anna@example.com'), [])
    await pass(0)
    assert.deepEqual(await subjects(key, 'anna@example.com'), ['One'])
    await pass(59.9)
    assert.deepEqual(await subjects(key, 'anna@example.com'), ['One'])
    await pass(0.1)
    assert.deepEqual(await subjects(key, 'anna@example.com'), ['One', 'Two'])
    await pass(0.5)
    await pass(1000)
    assert.deepEqual(await subjects(key, 'anna@example.com'), ['One', 'Two', 'Three'])
    assert.deepEqual(await runsOf(accountId), [{ status: 'finished', reason: null, next_step: 3 }])
  })

  test('fills its templates, and nobody is without a way out', async () => {
    const { accountId, key } = await app.makeAccount()
    await api('POST', '/v3/contacts/attributes/normal/POINTS', key, { type: 'float' })
    await api('POST', '/v3/contacts/attributes/calculated/TWICE', key, { value: 'POINTS*2' })
    const enumeration = [{ value: 2, label: 'Gold' }]
    await api('POST', '/v3/contacts/attributes/category/TIER', key, { type: 'category', enumeration })
    const html =
      '<body><p>{{ contact.FIRSTNAME }} {{ contact.TIER }} {{ contact.TWICE }} {{ event.plan.name }} ' +
      '<b>{{ event.note }}</b></p></body>'
    const own = '<a href="{{ unsubscribe_url }}">bye</a> {{ preferences_url }} {{ mirror }}'
    const id = await declare(
      key,
      onEvent('a', step(0, 'Hi {{ event.plan.name }}', { html }), step(1, 'x', { html: own })),
    )
    await api('POST', '/v3/contacts', key, {
      email: 'anna@example.com',
      attributes: { FIRSTNAME: 'Anna', POINTS: 7, TIER: 2 },
    })
    await happened(key, 'a', 'anna@example.com', { plan: { name: 'Pro' }, note: '<i>' })
    await pass(0)
    await pass(1)
    assert.deepEqual(await subjects(key, 'anna@example.com'), ['Hi Pro', 'x'])
    const [first, second] = await sentIn(accountId)
    assert.ok(first && second)
    assert.match(
      first.parts.html,
      /<p>Anna Gold 14 Pro <b>&lt;i&gt;<\/b><\/p><p [^>]*><a href="http:\/\/test\/u\/[^"]+">Unsub/,
    )
    assert.equal(second.parts.html.match(/\/u\//g)?.length, 1)
    assert.match(second.parts.html, /http:\/\/test\/preferences\/v2\./)
    const page = /http:\/\/test(\/mirror\/[\w-]+)/.exec(second.parts.html)?.[1] ?? ''
    const { text } = await app.call('GET', page, { key: null })
    const head = '<meta name="viewport" content="width=device-width"><title>x</title>'
    assert.equal(text, head + second.parts.html)
    const headers = new Map(first.parts.headers)
    assert.equal(headers.get('List-Unsubscribe-Post'), 'List-Unsubscribe=One-Click')
    assert.equal(headers.get('Auto-Submitted'), 'auto-generated')
    const named = first.automation_id.replaceAll('-', '')
    assert.match(headers.get('List-Id') ?? '', new RegExp(`^<automation-${named}\\.[a-z.]+>$`))
    assert.equal(headers.get('Feedback-ID'), `${named}:automation:${accountId}:posthorn`)
    const token = /\/u\/([^>]+)>/.exec(headers.get('List-Unsubscribe') ?? '')?.[1] ?? ''
    assert.deepEqual(readUnsubscribeToken(unsubscribeKeysOf([secretKey]), token), {
      accountId,
      email: 'anna@example.com',
      messageId: first.id,
    })
    assert.equal(`aut_${first.automation_id.replaceAll('-', '')}`, id)
    const { body } = await api('GET', '/api/v1/messages?to=anna@example.com', key)
    assert.equal(body.data[0].source, 'automation')
  })

  test('goes to the address that the contact has now', async () => {
    const { key } = await app.makeAccount()
    await declare(key, onEvent('a', step(5, 'One')))
    await happened(key, 'a', 'old@example.com')
    await api('PUT', '/v3/contacts/old@example.com', key, { attributes: { EMAIL: 'new@example.com' } })
    await pass(5)
    assert.deepEqual(await subjects(key, 'new@example.com'), ['One'])
    assert.deepEqual(await subjects(key, 'old@example.com'), [])
  })

  test('keeps to its own account', async () => {
    const [mine, theirs] = [await app.makeAccount(), await app.makeAccount()]
    await declare(mine.key, onEvent('a', step(0, 'Mine')))
    await happened(theirs.key, 'a', 'anna@example.com')
    await pass(0)
    assert.deepEqual(await subjects(theirs.key, 'anna@example.com'), [])
    assert.deepEqual(await runsOf(mine.accountId), [])
  })

  test('of a test key leaves nothing but a captured message', async () => {
    const { accountId, key } = await app.makeAccount()
    await declare(key, onEvent('a', step(0, 'One')))
    const { key: testKey } = await app.makeKey({ mode: 'test' }, accountId)
    await happened(testKey, 'a', 'anna@example.com')
    await pass(0)
    const Mode = row<{ mode: string }>({ mode: text })
    const found = await db.many(Mode, sql`select mode from messages where account_id = ${accountId}`)
    assert.deepEqual(found, [{ mode: 'test' }])
  })
})

describe('a run stops', () => {
  test('when its person leaves, is suppressed or was suppressed all along', async () => {
    const { accountId, key } = await app.makeAccount()
    await declare(key, onEvent('a', step(0, 'One'), step(10, 'Two')))
    for (const name of ['left', 'bounced', 'stays', 'banned']) await happened(key, 'a', `${name}@example.com`)
    await api('POST', '/api/v1/suppressions', key, { email: 'banned@example.com' })
    await pass(0)
    const [first] = await sentIn(accountId)
    const link = /http:\/\/test(\/u\/[^"]+)"/.exec(first?.parts.html ?? '')?.[1] ?? ''
    await app.call('POST', link, { key: null, raw: 'List-Unsubscribe=One-Click', headers: form })
    await api('POST', '/api/v1/suppressions', key, { email: 'bounced@example.com' })
    await pass(10)
    assert.deepEqual(await subjects(key, 'left@example.com'), ['One'])
    assert.deepEqual(await subjects(key, 'bounced@example.com'), ['One'])
    assert.deepEqual(await subjects(key, 'stays@example.com'), ['One', 'Two'])
    assert.deepEqual(await subjects(key, 'banned@example.com'), [])
    assert.deepEqual(
      (await runsOf(accountId)).map(({ status, reason }) => reason ?? status),
      ['unsubscribed', 'suppressed', 'finished', 'suppressed'],
    )
  })

  test('where it begins when its person has left before, and leaves a trace', async () => {
    const { key } = await app.makeAccount()
    await declare(key, onEvent('a', step(0, 'One')))
    const email = 'anna@example.com'
    await api('POST', '/v3/contacts', key, { email, emailBlacklisted: true })
    await happened(key, 'a', email)
    await pass(0)
    assert.deepEqual(await subjects(key, email), [])
    const [run] = (await api('GET', '/api/v1/automations/runs', key)).body.data
    assert.deepEqual([run.status, run.reason, run.steps_done], ['stopped', 'unsubscribed', 0])
    assert.deepEqual([run.email, run.ended_at], [email, run.started_at])
  })

  test('when its automation is deleted', async () => {
    const { accountId, key } = await app.makeAccount()
    const id = await declare(key, onEvent('a', step(0, 'One'), step(10, 'Two')))
    await happened(key, 'a', 'anna@example.com')
    await pass(0)
    await api('DELETE', `/api/v1/automations/${id}`, key)
    await pass(10)
    assert.deepEqual(await subjects(key, 'anna@example.com'), ['One'])
    assert.deepEqual((await runsOf(accountId))[0]?.reason, 'automation deleted')
  })

  test('when its contact is deleted or erased, of which nothing is left', async () => {
    const { accountId, key } = await app.makeAccount()
    await declare(key, onEvent('a', step(0, 'One'), step(10, 'Two')))
    for (const name of ['gone', 'erased']) await happened(key, 'a', `${name}@example.com`, { secret: name })
    await pass(0)
    const exported = await api('GET', '/api/v1/contacts/export?email=erased@example.com', key)
    assert.deepEqual(exported.body.custom_events[0].properties, { secret: 'erased' })
    // Kept once, however many automations follow it.
    assert.equal(exported.body.automation_runs[0].context, null)
    await api('DELETE', '/v3/contacts/gone@example.com', key)
    const { body } = await api('POST', '/api/v1/contacts/erase', key, {
      email: 'erased@example.com',
      confirm: true,
    })
    assert.deepEqual([body.erased.custom_events, body.erased.automation_runs], [1, 1])
    assert.deepEqual(await runsOf(accountId), [])
    assert.equal((await api('GET', '/v3/events', key)).body.count, 0)
    await pass(10)
    assert.deepEqual((await sentIn(accountId)).length, 1)
  })
})

test('a run that began while its person was being erased is forgotten', async () => {
  const { accountId, key } = await app.makeAccount()
  await declare(key, onEvent('a', step(0, 'One')))
  await happened(key, 'a', 'late@example.com')
  await db.run(sql`
    insert into suppressions (account_id, email, reason, source, created_at, id)
    values (${accountId}, erased_name('late@example.com'), 'manual', 'erasure', now(), gen_random_uuid())`)
  await pass(0)
  assert.deepEqual([await runsOf(accountId), await sentIn(accountId)], [[], []])
})

const form = { 'content-type': 'application/x-www-form-urlencoded' }

describe('a run waits', () => {
  test('while its automation is paused, and then goes on', async () => {
    const { accountId, key } = await app.makeAccount()
    const id = await declare(key, onEvent('a', step(0, 'One'), step(10, 'Two'), step(10, 'Three')))
    await happened(key, 'a', 'anna@example.com')
    await pass(0)
    await update(key, id, { status: 'paused' })
    await happened(key, 'a', 'late@example.com')
    await pass(60)
    assert.deepEqual(await subjects(key, 'anna@example.com'), ['One'])
    assert.equal((await runsOf(accountId))[0]?.status, 'paused')
    await update(key, id, { status: 'active' })
    await pass(0)
    await pass(9)
    assert.deepEqual(await subjects(key, 'anna@example.com'), ['One', 'Two'])
    await pass(1)
    assert.deepEqual(await subjects(key, 'anna@example.com'), ['One', 'Two', 'Three'])
    assert.equal((await runsOf(accountId)).length, 1)
  })

  test('for the quota of its key, and for what has to be mended', async () => {
    const { accountId } = await app.makeAccount()
    const { key } = await app.makeKey({ dailyCap: 1 }, accountId)
    const id = await declare(key, onEvent('a', step(0, '{{ event.title }}')))
    await happened(key, 'a', 'one@example.com')
    await pass(0)
    assert.deepEqual(await runsOf(accountId), [
      { status: 'running', reason: 'subject is missing', next_step: 0 },
    ])
    await update(key, id, { steps: [step(0, 'Mended')] })
    await happened(key, 'a', 'two@example.com')
    await pass(60)
    assert.equal((await sentIn(accountId)).length, 1)
    await pass(23 * 60)
    assert.equal((await sentIn(accountId)).length, 2)
    assert.deepEqual(new Set((await runsOf(accountId)).map(({ status }) => status)), new Set(['finished']))
  })
})
