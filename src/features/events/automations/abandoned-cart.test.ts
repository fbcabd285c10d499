import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { json, row } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { openRunning, step } from '../fixtures/running.ts'

const { app, api, declare, now, pass, subjects } = await openRunning()
const { db } = app.pools

const cart = {
  id: 'c1',
  url: 'https://shop.example/cart/c1',
  currency: 'EUR',
  total: '1 249,90',
  items: [
    { name: 'Chair <oak>', quantity: 2, price: '600.00', image_url: 'https://shop.example/c.png' },
    { name: 'Lamp', price: 49.9, url: 'https://shop.example/lamp' },
  ],
}

const leave = (key: string, email: string, more = {}) =>
  api('POST', '/api/v1/automations/abandoned-cart', key, { email, cart, ...more })

async function withSender() {
  const account = await app.makeAccount()
  await api('PUT', '/api/v1/settings', account.key, {
    default_sender: { email: 'shop@example.com', name: 'Shop' },
  })
  return account
}

const hours = (scheduled: string[]) => scheduled.map((at) => (Date.parse(at) - now().getTime()) / 3_600_000)

async function bodies(accountId: string): Promise<string[]> {
  const Parts = row<{ parts: { html: string } }>({ parts: json() })
  const found = await db.many(
    Parts,
    sql`select parts from message_bodies where account_id = ${accountId} order by message_id`,
  )
  return found.map(({ parts }) => parts.html)
}

describe('the scenario that everybody has', () => {
  test('reminds three times, after 1, 24 and 72 hours', async () => {
    const { accountId, key } = await withSender()
    const reply = await leave(key, 'Anna@Example.com')
    assert.equal(reply.status, 202, reply.text)
    assert.match(reply.body.run_id, /^run_/)
    assert.deepEqual(hours(reply.body.scheduled), [1, 24, 72])
    for (const minutes of [59, 1, 23 * 60, 48 * 60, 100 * 60]) await pass(minutes)
    const got = await subjects(key, 'anna@example.com')
    assert.deepEqual([got.length, got[0]], [3, 'You left something in your cart'])
    const [html = ''] = await bodies(accountId)
    for (const part of [
      'Chair &lt;oak&gt;',
      '× 2',
      '600.00 EUR',
      '49.9 EUR',
      '1 249,90 EUR',
      cart.url,
      '/u/v2.',
    ])
      assert.ok(html.includes(part), part)
  })

  test('speaks French to those who do', async () => {
    const { accountId, key } = await withSender()
    await api('POST', '/v3/contacts/attributes/normal/LANGUAGE', key, { type: 'text' })
    await api('POST', '/v3/contacts', key, {
      email: 'anne@example.com',
      attributes: { LANGUAGE: 'fr_FR', FIRSTNAME: 'Anne' },
    })
    await leave(key, 'anne@example.com', { delay_minutes: 0.5 })
    await pass(0.5)
    assert.deepEqual(await subjects(key, 'anne@example.com'), ['Vous avez oublié quelque chose'])
    const [html = ''] = await bodies(accountId)
    assert.ok(html.includes('Bonjour Anne,') && html.includes('Se désabonner'))
  })

  test('may begin at another time', async () => {
    const { key } = await withSender()
    const at = async (email: string, delay_minutes: number) =>
      hours((await leave(key, email, { delay_minutes })).body.scheduled)
    assert.deepEqual(await at('a@example.com', 30), [0.5, 24, 72])
    assert.deepEqual(await at('b@example.com', 49 * 60), [49, 72, 120])
  })

  test('needs somebody to write as', async () => {
    const { accountId, key } = await app.makeAccount()
    const reply = await leave(key, 'a@example.com')
    assert.deepEqual([reply.status, reply.body.error.param], [422, undefined])
    assert.equal(reply.body.error.action.operation, 'settings.update')
    await api('PUT', '/api/v1/settings', key, { default_sender: { email: 'shop@example.com' } })
    const { key: narrow } = await app.makeKey({ senderDomains: ['other.example'] }, accountId)
    assert.equal((await leave(narrow, 'a@example.com')).status, 403)
  })
})

describe('a cart', () => {
  test('that is left again is shown as it is now, at the times that were promised', async () => {
    const { accountId, key } = await withSender()
    const first = await leave(key, 'a@example.com')
    await pass(30)
    const second = await leave(key, 'a@example.com', { cart: { ...cart, total: '7.00' } })
    assert.deepEqual(second.body, first.body)
    const third = await leave(key, 'a@example.com', { delay_minutes: 60 })
    assert.equal(third.body.run_id, first.body.run_id)
    assert.equal(hours(third.body.scheduled)[0], 1)
    await leave(key, 'a@example.com', { cart: { ...cart, total: '7.00' } })
    await pass(60)
    assert.ok((await bodies(accountId))[0]?.includes('7.00 EUR'))
    const later = await leave(key, 'a@example.com', { delay_minutes: 0 })
    assert.deepEqual(later.body, third.body)
    await pass(1)
    assert.equal((await subjects(key, 'a@example.com')).length, 1)
    const other = await leave(key, 'a@example.com', { cart: { ...cart, id: 2 } })
    assert.notEqual(other.body.run_id, first.body.run_id)
  })

  test('left by many calls at once has one run', async () => {
    const { key } = await withSender()
    const replies = await Promise.all(Array.from({ length: 6 }, () => leave(key, 'a@example.com')))
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([202]))
    assert.equal(new Set(replies.map(({ body }) => body.run_id)).size, 1)
  })

  test('is forgotten with a purchase of that person in that account', async () => {
    const [mine, theirs] = [await withSender(), await withSender()]
    for (const { key } of [mine, theirs]) await leave(key, 'a@example.com')
    await leave(mine.key, 'b@example.com')
    await pass(60)
    const bought = await api('POST', '/api/v1/campaigns/conversion', mine.key, {
      email: 'A@example.com',
      amount: 1,
    })
    assert.equal(bought.status, 201, bought.text)
    await pass(23 * 60)
    assert.equal((await subjects(mine.key, 'a@example.com')).length, 1)
    assert.equal((await subjects(mine.key, 'b@example.com')).length, 2)
    assert.equal((await subjects(theirs.key, 'a@example.com')).length, 2)
    assert.equal((await leave(mine.key, 'a@example.com')).status, 202)
  })

  test('is not ended by a purchase before it; its run ends when the purchase is told', async () => {
    const { key } = await withSender()
    await leave(key, 'a@example.com')
    const left = now()
    await pass(30)
    const buy = (at: Date) =>
      api('POST', '/api/v1/campaigns/conversion', key, {
        email: 'a@example.com',
        amount: 1,
        at: at.toISOString(),
      })
    const run = async () => {
      const { status, reason, ended_at } = (await api('GET', '/api/v1/automations/runs', key)).body.data[0]
      return { status, reason, ended_at }
    }
    await buy(new Date(left.getTime() - 1000))
    assert.deepEqual(await run(), { status: 'running', reason: null, ended_at: null })
    // Of the same second.
    await buy(left)
    assert.deepEqual(await run(), { status: 'stopped', reason: 'purchase', ended_at: now().toISOString() })
  })

  test('of somebody who must not be written to is refused', async () => {
    const { key } = await withSender()
    await api('POST', '/api/v1/suppressions', key, { email: 'a@example.com' })
    await api('POST', '/api/v1/contacts/erase', key, { email: 'b@example.com', confirm: true })
    for (const email of ['a@example.com', 'b@example.com']) {
      const reply = await leave(key, email)
      assert.deepEqual([reply.status, reply.body.error.code], [422, 'recipient_suppressed'])
      assert.equal(reply.body.error.param, 'email')
    }
    assert.equal((await leave(key, 'nobody')).body.error.code, 'recipient_invalid')
    for (const bad of [{ url: 'javascript:alert(1)' }, { id: '' }, { items: [{}] }, { colour: 'red' }])
      assert.equal((await leave(key, 'c@example.com', { cart: { ...cart, ...bad } })).status, 422)
    assert.equal((await leave(key, 'c@example.com', { delay_minutes: -1 })).status, 422)
  })

  test('uses the account’s own automation where there is one', async () => {
    const { accountId, key } = await withSender()
    const html = '{% for item in event.cart.items %}[{{ item.name }}]{% endfor %}'
    const steps = [step(10, 'Still yours: {{ event.cart.total }}', { html }), step(20, 'Second')]
    const id = await declare(key, { name: 'Carts', trigger_type: 'abandoned_cart', steps })
    const usual = await leave(key, 'a@example.com')
    const sooner = await leave(key, 'b@example.com', { delay_minutes: 0.1 })
    const minutes = (reply: typeof usual) =>
      hours(reply.body.scheduled).map((one) => Math.round(one * 600) / 10)
    assert.deepEqual(
      [minutes(usual), minutes(sooner)],
      [
        [10, 30],
        [0.1, 20.1],
      ],
    )
    await pass(10)
    assert.deepEqual(await subjects(key, 'a@example.com'), ['Still yours: 1 249,90'])
    assert.ok((await bodies(accountId))[0]?.includes('[Chair &lt;oak&gt;][Lamp]'))
    await api('PUT', `/api/v1/automations/${id}`, key, { status: 'paused' })
    await leave(key, 'c@example.com')
    await pass(100)
    assert.deepEqual(await subjects(key, 'c@example.com'), [])
  })

  test('is free for another when its own is deleted', async () => {
    const { key } = await withSender()
    const id = await declare(key, {
      name: 'Carts',
      trigger_type: 'abandoned_cart',
      steps: [step(60, 'First')],
    })
    const { body: first } = await leave(key, 'a@example.com')
    assert.equal((await api('DELETE', `/api/v1/automations/${id}`, key)).status, 200)
    const runs = (await api('GET', '/api/v1/automations/runs', key)).body.data
    assert.deepEqual([runs[0].status, runs[0].reason], ['stopped', 'automation deleted'])
    const { body: second } = await leave(key, 'a@example.com', { delay_minutes: 0 })
    assert.notEqual(second.run_id, first.run_id)
    await pass(1)
    assert.deepEqual(await subjects(key, 'a@example.com'), ['You left something in your cart'])
  })

  test('is free for another after its person changed the address, too', async () => {
    const { key } = await withSender()
    const carts = { name: 'Carts', trigger_type: 'abandoned_cart' }
    const id = await declare(key, { ...carts, steps: [step(60, 'First')] })
    await api('POST', '/v3/contacts', key, { email: 'before@example.com' })
    await leave(key, 'before@example.com')
    await api('DELETE', `/api/v1/automations/${id}`, key)
    await declare(key, { ...carts, steps: [step(60, 'Second')] })
    await api('PUT', '/v3/contacts/before@example.com', key, { attributes: { EMAIL: 'after@example.com' } })
    await leave(key, 'after@example.com')
    await pass(61)
    assert.deepEqual(await subjects(key, 'after@example.com'), ['Second'])
  })

  test('is the same one after its person changed the address', async () => {
    const { key } = await withSender()
    await api('POST', '/v3/contacts', key, { email: 'old@example.com' })
    const { body: first } = await leave(key, 'old@example.com')
    await api('PUT', '/v3/contacts/old@example.com', key, { attributes: { EMAIL: 'new@example.com' } })
    for (let n = 0; n < 2; n++) assert.equal((await leave(key, 'new@example.com')).body.run_id, first.run_id)
    assert.equal((await api('GET', '/api/v1/automations/runs', key)).body.data.length, 1)
  })

  test('that was left under two addresses of one person is reminded of once', async () => {
    const { key } = await withSender()
    await leave(key, 'new@example.com')
    await api('POST', '/v3/contacts', key, { email: 'old@example.com' })
    await leave(key, 'old@example.com')
    await api('PUT', '/v3/contacts/old@example.com', key, { attributes: { EMAIL: 'new@example.com' } })
    assert.equal((await leave(key, 'new@example.com')).status, 202)
    await pass(61)
    assert.deepEqual(await subjects(key, 'new@example.com'), ['You left something in your cart'])
    const runs = (await api('GET', '/api/v1/automations/runs', key)).body.data
    const over = runs.filter(({ status }: { status: string }) => status === 'stopped')
    assert.deepEqual(
      over.map(({ reason }: { reason: string }) => reason),
      ['the same cart of another address'],
    )
  })

  test('with several runs of one person goes on with the newest', async () => {
    const { accountId, key } = await withSender()
    await api('POST', '/v3/contacts', key, { email: 'first@example.com' })
    await leave(key, 'first@example.com')
    // As they were left by a version that did not follow the contact.
    await app.pools.db.run(sql`
      insert into automation_runs
        (account_id, contact_id, email, cart_id, context, schedule, due_at, key_id, mode, started_at)
      select account_id, contact_id, 'second@example.com', cart_id, context, schedule, due_at, key_id, mode, started_at
        from automation_runs
       where account_id = ${accountId}`)
    await api('PUT', '/v3/contacts/first@example.com', key, { attributes: { EMAIL: 'third@example.com' } })
    assert.equal((await leave(key, 'third@example.com')).status, 202)
    const runs = (await api('GET', '/api/v1/automations/runs', key)).body.data
    assert.deepEqual(
      runs.map(({ status }: { status: string }) => status),
      ['running', 'stopped'],
    )
  })

  test('is refused where the key may not send as a step is written, by its own sender or the default', async () => {
    const { accountId, key } = await withSender()
    const { key: narrow } = await app.makeKey({ senderDomains: ['allowed.example'] }, accountId)
    const allowed = step(10, 'First', { from: 'a@allowed.example' })
    const declared = (...steps: object[]) =>
      declare(key, { name: 'Carts', trigger_type: 'abandoned_cart', steps: [allowed, ...steps] })
    const statuses: number[] = []
    for (const steps of [[], [step(20, 'Second')], [step(20, 'Second', { from: 'b@foreign.example' })]]) {
      await declared(...steps)
      statuses.push((await leave(narrow, 'a@example.com')).status)
    }
    assert.deepEqual(statuses, [202, 403, 403])
  })
})
