import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { makeRelayApp } from '../../../test/relay/relay-app.ts'
import { until } from '../../../test/until.ts'
import { startJobs } from '../../kernel/job.ts'
import { silentLog } from '../../kernel/log.ts'
import { int, row } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { campaignJobs } from '../campaigns/sending/jobs.ts'
import { insertDomain } from '../domains/queries.ts'
import { runAutomations } from '../events/automations/run-steps.ts'

const app = await makeRelayApp({ deliver: true, env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })
const { db } = app.pools
const Id = row<{ id: number }>({ id: int })

/** An account with one sender that is proven, and one that is not. */
async function setUp(required: boolean) {
  const { key, accountId } = await app.makeAccount()
  const call = (method: string, path: string, body?: unknown) => app.call(method, path, { key, body })
  const add = async (email: string, isProven: boolean) => {
    const { id } = await db.one(
      Id,
      sql`
      insert into senders (account_id, name, email, proven_at, created_at)
      values (${accountId}, 'Shop', ${email}, ${isProven ? new Date() : null}, now())
      returning id::int`,
    )
    return id
  }
  const [proven, unproven] = [await add('Shop@example.com', true), await add('new@example.com', false)]
  if (required) await call('PUT', '/api/v1/settings', { require_verified_sender: true })
  return { key, accountId, call, proven, unproven }
}

const own = (from: string) => ({ from, to: 'anna@example.org', subject: 'Hi', text: 'Hi.' })
const v3 = (sender: object, more = {}) => ({
  sender,
  to: [{ email: 'anna@example.org' }],
  subject: 'Hi',
  textContent: 'Hi.',
  ...more,
})

const undeclared = (email: string) =>
  `The domain example.com is not declared in this account, nor is ${email} one of its active senders. ` +
  'POST /api/v1/domains with {"domain":"example.com"} declares it.'

describe('where the account asks for proven senders', () => {
  test('its own namespace refuses others with 422 and the way out, from the next call on', async () => {
    const { call } = await setUp(false)
    const send = (from: string) => call('POST', '/api/v1/transactional/send', own(from))
    assert.equal((await send('stranger@example.com')).status, 202)
    await call('PUT', '/api/v1/settings', { require_verified_sender: true })
    const { status, body } = await send('stranger@example.com')
    assert.deepEqual([status, body.error.code, body.error.param], [422, 'sender_unverified', 'from'])
    assert.equal(body.error.message, undeclared('stranger@example.com'))
    assert.deepEqual(body.error.action, {
      operation: 'domain.declare',
      method: 'POST',
      path: '/api/v1/domains',
      scope: 'domain.write',
      body: { domain: 'example.com' },
    })
    assert.equal((await send('new@example.com')).status, 422)
    assert.equal((await send('shop@EXAMPLE.com')).status, 202)
    await call('PUT', '/api/v1/settings', { require_verified_sender: false })
    assert.equal((await send('stranger@example.com')).status, 202)
  })

  test('the way out is what is still to do: the code of a sender, or the records of a declared domain', async () => {
    const { call, accountId, unproven } = await setUp(true)
    const wayOut = async (from: string) => {
      const { error } = (await call('POST', '/api/v1/transactional/send', own(from))).body
      const { body } = await call('POST', '/api/v1/messages/validate', own(from))
      const [{ hint, action }] = body.blocking
      assert.deepEqual({ hint, action }, { hint: error.hint, action: error.action })
      return error
    }
    const path = `/v3/senders/${unproven}`
    const codeless = await wayOut('New@example.com')
    const asked = { operation: 'sender.update', method: 'PUT', path, scope: 'domain.write' }
    assert.deepEqual(codeless.action, { ...asked, body: { email: 'new@example.com' } })
    assert.match(codeless.hint, /without a code to enter: this request mails one/)
    assert.equal((await call('PUT', path, codeless.action.body)).status, 204)
    const waiting = await wayOut('New@example.com')
    assert.deepEqual(waiting.action, {
      operation: 'sender.validate',
      method: 'PUT',
      path: `${path}/validate`,
      scope: 'domain.write',
    })
    assert.match(waiting.hint, /waits for its code/)
    assert.match(waiting.message, /^The domain example\.com is not declared .* active senders\.$/)
    const age = (days: number) =>
      db.run(sql`
      update senders set code_sent_at = now() - make_interval(days => ${days}) where account_id = ${accountId}`)
    await age(1)
    assert.equal((await wayOut('new@example.com')).action.operation, 'sender.update', 'it is too old')
    await age(0)
    for (let n = 0; n < 5; n++) await call('PUT', `${path}/validate`, { otp: 100_000 + n })
    assert.equal(
      (await wayOut('new@example.com')).action.operation,
      'sender.update',
      'it was tried too often',
    )
    assert.equal((await wayOut('stranger@shop.lan')).action, undefined, 'no such domain can be declared')
    await insertDomain(db, { accountId, domain: 'example.com' }, 'token', new Date())
    for (const from of ['stranger@EXAMPLE.com', 'new@example.com']) {
      const { message, hint, action } = await wayOut(from)
      assert.match(
        message,
        /^The domain example\.com is declared in this account but not verified, nor is .*@/i,
      )
      assert.deepEqual([action.operation, action.path], ['domain.verify', '/api/v1/domains/verify'])
      assert.deepEqual(action.body, { domain: 'example.com' })
      assert.match(hint, /^example\.com is declared, not verified/)
    }
  })

  test('message.validate says so', async () => {
    const { call } = await setUp(true)
    const validate = async (from: string) =>
      (await call('POST', '/api/v1/messages/validate', own(from))).body.blocking.map(
        ({ code }: { code: string }) => code,
      )
    assert.deepEqual(await validate('stranger@example.com'), ['sender_unverified'])
    assert.deepEqual(await validate('shop@example.com'), [])
  })

  test('the compatible namespace answers 400, in its sandbox too', async () => {
    const { call } = await setUp(true)
    for (const headers of [{}, { 'X-Sib-Sandbox': 'drop' }]) {
      const refused = await call('POST', '/v3/smtp/email', v3({ email: 'stranger@example.com' }, { headers }))
      assert.deepEqual([refused.status, refused.body.code], [400, 'invalid_parameter'])
      assert.equal(refused.body.message, undeclared('stranger@example.com'))
      const taken = await call('POST', '/v3/smtp/email', v3({ email: 'shop@example.com' }, { headers }))
      assert.equal(taken.status, 201)
    }
  })

  test('the relay answers 550 5.7.1', async () => {
    const { key } = await setUp(true)
    const refused = await app.refused({ from: 'stranger@example.com' }, key)
    assert.equal(refused.response, `550 5.7.1 ${undeclared('stranger@example.com')}`)
    const named = { from: 'shop@example.com', headers: { Sender: 'stranger@example.com' } }
    const again = await app.refused(named, key)
    assert.equal(again.response, `550 5.7.1 ${undeclared('stranger@example.com')}`)
    assert.match((await app.send({ from: 'shop@example.com' }, key)).response, /^250/)
  })

  test('a campaign neither starts nor goes on with another sender', async () => {
    const { call, proven } = await setUp(true)
    const { id: listId } = (await call('POST', '/v3/contacts/lists', { name: 'News' })).body
    await call('POST', '/v3/contacts', { email: 'anna@example.org', listIds: [listId] })
    const create = async (email: string) => {
      const content = { name: 'News', subject: 'News', htmlContent: '<p>Hello {{ contact.EMAIL }}</p>' }
      const { body } = await call('POST', '/v3/emailCampaigns', {
        ...content,
        sender: { email },
        recipients: { listIds: [listId] },
      })
      return body.id as number
    }
    const sendNow = (id: number) => call('POST', `/v3/emailCampaigns/${id}/sendNow`, { confirm: true })
    const refused = await sendNow(await create('stranger@example.com'))
    assert.deepEqual([refused.status, refused.body.code], [400, 'invalid_parameter'])
    const id = await create('shop@example.com')
    assert.equal((await sendNow(id)).status, 204)
    await call('DELETE', `/v3/senders/${proven}`)
    const now = () => new Date()
    const jobs = startJobs(campaignJobs({ log: silentLog, now, wake: () => {} }), { db, log: silentLog, now })
    after(() => jobs.stop())
    const Held = row<{ held: string | null; waits: number }>({
      held: { says: '', is: () => true },
      waits: int,
    })
    const { held } = await until(async () => {
      const found = await db.one(
        Held,
        sql`
        select c.held_reason as held,
               (select count(*)::int from messages m where m.campaign_id = c.id and m.status = 'held') as waits
          from campaigns c where c.id = ${id} and c.account_id is not null`,
      )
      return found.waits === 1 && found
    }, 'the message to be held')
    assert.match(
      held ?? '',
      /^The domain example\.com is not declared .* Mend it, then resume the campaign\.$/,
    )
    const { body } = await call('GET', `/v3/emailCampaigns/${id}`)
    assert.equal(body.status, 'suspended')
  })

  test('an automation waits until the sender is proven', async () => {
    const { call } = await setUp(true)
    const step = { delay_minutes: 0, subject: 'Hi', html: '<p>Hello there</p>', from: 'new@example.com' }
    const automation = { name: 'a', trigger_type: 'custom_event', event_name: 'seen', steps: [step] }
    await call('POST', '/api/v1/automations', automation)
    const event = { event_name: 'seen', identifiers: { email_id: 'ben@example.org' } }
    assert.equal((await call('POST', '/v3/events', event)).status, 204)
    let hours = 0
    const needs = {
      db,
      log: silentLog,
      now: () => new Date(Date.now() + hours * 3_600_000),
      baseUrl: 'http://test',
      unsubscribeKeys: async () => [Buffer.alloc(32)],
      fetchAttachment: async () => Buffer.alloc(0),
    }
    const run = async (after: number) => {
      hours = after
      await runAutomations(needs, new AbortController().signal)
      return (await call('GET', '/api/v1/messages?to=ben@example.org')).body.data.length
    }
    assert.equal(await run(0), 0)
    await db.run(sql`update senders set proven_at = now() where email = 'new@example.com'`)
    assert.equal(await run(2), 1)
  })
})

describe('a sender by its number', () => {
  test('sends, when it is active', async () => {
    const { call, proven, unproven } = await setUp(false)
    const send = (id: unknown) => call('POST', '/v3/smtp/email', v3({ id }))
    assert.equal((await send(proven)).status, 201)
    const { body } = await call('GET', '/api/v1/messages')
    assert.equal(body.data[0].from, 'Shop <Shop@example.com>')
    const other = await setUp(false)
    for (const id of [unproven, other.proven, 2 ** 60, -5]) {
      const refused = await send(id)
      assert.deepEqual([refused.status, refused.body.code], [400, 'invalid_parameter'], String(id))
    }
  })

  test('stands in templates and campaigns', async () => {
    const { call, proven, unproven } = await setUp(false)
    const template = (sender: object) => ({
      templateName: 'T',
      subject: 'T',
      htmlContent: '<p>Hello there</p>',
      sender,
    })
    const made = await call('POST', '/v3/smtp/templates', template({ id: proven }))
    const { body: shown } = await call('GET', `/v3/smtp/templates/${made.body.id}`)
    assert.deepEqual(shown.sender, { id: '', name: 'Shop', email: 'Shop@example.com' })
    assert.equal((await call('POST', '/v3/smtp/templates', template({ id: unproven }))).status, 400)
    const campaign = (sender: object) => ({ name: 'C', subject: 'C', htmlContent: '<p>Hello</p>', sender })
    const { body: created } = await call('POST', '/v3/emailCampaigns', campaign({ id: proven }))
    const { body: campaignShown } = await call('GET', `/v3/emailCampaigns/${created.id}`)
    assert.equal(campaignShown.sender.email, 'Shop@example.com')
    assert.equal((await call('POST', '/v3/emailCampaigns', campaign({ id: unproven }))).status, 400)
  })
})
