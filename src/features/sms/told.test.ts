// What others are told of SMS: webhooks, reports, the person themselves.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { silentLog } from '../../kernel/log.ts'
import { int, row } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { openReceiver } from '../webhooks/fixtures/receiver.ts'
import { accepted, makeSmsApp } from './fixtures/app.ts'
import { recordReports } from './record-reports.ts'

// By the clock of the machine, which the database queues the calls of webhooks by.
const app = await makeSmsApp({
  sms: true,
  webhooks: true,
  now: () => new Date(),
  env: { POSTHORN_WEBHOOK_ALLOW_PRIVATE: 'true' },
})
const { send, db } = app

const reply = (from: string, text: string) =>
  recordReports(
    { db, log: silentLog, now: () => new Date() },
    {
      provider: 'test',
      id: String(Math.random()),
      reports: [{ kind: 'reply', from, text, upstreamId: null, at: new Date() }],
    },
  )

async function shop(events: string[], url: string) {
  const { key, accountId } = await app.makeAccount()
  const body = { url, channel: 'sms', events, description: 'mine' }
  const made = await app.call('POST', '/v3/webhooks', { key, body })
  assert.equal(made.status, 201, made.text)
  return { key, accountId, id: made.body.id as number }
}

describe('webhooks of the channel sms', () => {
  test('get what they ask for, in the provider’s payload', async () => {
    const receiver = await openReceiver()
    const { key, id } = await shop(['sent', 'delivered'], receiver.url)
    const answer = await send({ tag: ['a', 'b'], content: 'a'.repeat(161) }, key)
    await app.becomes(accepted(answer), 'delivered')
    const [first, second] = await receiver.calls(2)
    const { date, ts_event, ...payload } = first?.body ?? {}
    assert.match(date, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    assert.ok(Math.abs(ts_event - Date.now() / 1000) < 60)
    assert.deepEqual(payload, {
      id,
      to: '33612345678',
      sms_count: 2,
      credits_used: 2,
      messageId: answer.body.messageId,
      remaining_credit: answer.body.remainingCredits,
      msg_status: 'sent',
      type: 'transactional',
      reference: answer.body.reference,
      tag: '["a","b"]',
    })
    assert.equal(second?.body.msg_status, 'delivered')
    assert.ok(first?.headers['webhook-signature'])
  })

  test('answers and departures are told, and nothing of another account', async () => {
    const [receiver, strangers] = [await openReceiver(), await openReceiver()]
    const { key } = await shop(['reply', 'unsubscribe'], receiver.url)
    await shop(['sent', 'reply', 'unsubscribe'], strangers.url)
    await app.becomes(accepted(await send({ recipient: '+33612345606', tag: 'x' }, key)), 'delivered')
    await reply('+33612345606', 'STOP')
    const calls = await receiver.calls(2)
    assert.deepEqual(
      calls.map(({ body }) => [body.msg_status, body.reply, body.tag]),
      [
        ['replied', 'STOP', 'x'],
        ['unsubscribe', undefined, 'x'],
      ],
    )
    assert.equal(strangers.got.length, 0)
  })

  test('are listed with the transactional ones, and tested with a payload of their own', async () => {
    const receiver = await openReceiver()
    const { key, id } = await shop(
      ['hardBounce', 'blacklisted', 'skip', 'accepted', 'subscribe'],
      receiver.url,
    )
    const { body } = await app.call('GET', '/v3/webhooks', { key })
    assert.deepEqual(
      body.webhooks.map((one: { type: string; channel: string }) => [one.type, one.channel]),
      [['transactional', 'sms']],
    )
    assert.equal((await app.call('POST', `/v3/webhooks/${id}/test`, { key, body: {} })).status, 202)
    const [call] = await receiver.calls(1)
    assert.deepEqual([call?.body.msg_status, call?.body.id], ['hard_bounce', id])
  })

  test('know other words than those of email', async () => {
    const { key } = await app.makeAccount()
    const make = (body: object) =>
      app.call('POST', '/v3/webhooks', { key, body: { url: 'https://example.com', ...body } })
    assert.equal((await make({ channel: 'sms', events: ['opened'] })).status, 400)
    assert.equal((await make({ channel: 'email', events: ['reply'] })).status, 400)
    assert.equal((await make({ channel: 'sms', type: 'marketing', events: ['sent'] })).status, 400)
    assert.equal((await make({ channel: 'fax', events: ['sent'] })).status, 400)
  })
})

describe('reports', () => {
  test('count and list what happened', async () => {
    const { key } = await app.makeAccount()
    for (const tag of ['one', 'two']) {
      const id = accepted(await send({ tag, recipient: tag === 'one' ? '33612345607' : '33612345608' }, key))
      await app.becomes(id, 'delivered')
    }
    await reply('33612345608', 'stop')
    const get = async (path: string) =>
      (await app.call('GET', `/v3/transactionalSMS/statistics/${path}`, { key })).body
    const today = new Date().toISOString().slice(0, 10)
    const counts = {
      requests: 2,
      accepted: 0,
      delivered: 2,
      hardBounces: 0,
      softBounces: 0,
      blocked: 0,
      unsubscribed: 1,
      replied: 1,
      rejected: 0,
      skipped: 0,
    }
    assert.deepEqual(await get('aggregatedReport?days=1'), { range: `${today}|${today}`, ...counts })
    assert.deepEqual(await get('reports?days=1'), { reports: [{ date: today, ...counts }] })
    assert.equal((await get('reports?days=1&tag=one')).reports[0].delivered, 1)
    const { events } = await get('events')
    assert.deepEqual(events.map(({ event }: { event: string }) => event).sort(), [
      'delivered',
      'delivered',
      'replies',
      'sent',
      'sent',
      'unsubscription',
    ])
    const [answer] = (await get('events?event=replies')).events
    assert.deepEqual([answer.phoneNumber, answer.reply, answer.tag], ['33612345608', 'stop', 'two'])
    assert.equal((await get('events?phoneNumber=%2B33612345607')).events.length, 2)
    const oneOf = ['one', 'one,other', encodeURIComponent('["one"]'), 'one&tags=other']
    for (const tags of oneOf)
      assert.equal((await get(`events?tags=${tags}&event=sent`)).events.length, 1, tags)
    const page = await get('events?limit=4')
    const rest = await get(`events?limit=4&cursor=${page.next_cursor}`)
    assert.deepEqual([page.events.length, rest.events.length, rest.next_cursor], [4, 2, null])
    const reports = async () => [
      await get('aggregatedReport'),
      await get('reports?tag=two'),
      await get('reports?days=2'),
    ]
    const before = await reports()
    const person = { email: 'ann@example.com', attributes: { SMS: '33612345608' } }
    assert.equal((await app.call('POST', '/v3/contacts', { key, body: person })).status, 201)
    const body = { email: person.email, confirm: true }
    assert.equal((await app.call('POST', '/api/v1/contacts/erase', { key, body })).body.erased.sms, 1)
    assert.deepEqual(await reports(), before, 'nothing changes when somebody is erased')
  })

  test('refuse what cannot be', async () => {
    for (const query of ['limit=101', 'event=x', 'days=0', 'startDate=2026-01-01', 'offset=-1', 'cursor=x'])
      assert.equal(
        (await app.call('GET', `/v3/transactionalSMS/statistics/events?${query}`, {})).status,
        400,
        query,
      )
  })
})

describe('the person', () => {
  const phone = '33612345609'
  const Count = row<{ count: number }>({ count: int })
  const traces = (accountId: string) =>
    db.one(
      Count,
      sql`
      select ((select count(*) from sms_messages where account_id = ${accountId} and recipient = ${phone})
              + (select count(*) from sms_events where account_id = ${accountId})
              + (select count(*) from sms_optouts where account_id = ${accountId} and phone = ${phone})
              + (select count(*) from webhook_queue where account_id = ${accountId})
              + (select count(*) from webhook_deliveries where account_id = ${accountId}))::int as count`,
    )

  test('gets what is held under their number, and has it erased', async () => {
    const receiver = await openReceiver()
    const [{ key, accountId }, other] = [await shop(['sent', 'reply'], receiver.url), await app.makeAccount()]
    for (const one of [key, other.key]) {
      const body = { email: 'ann@example.com', attributes: { SMS: phone } }
      await app.call('POST', '/v3/contacts', { key: one, body })
      await app.becomes(accepted(await send({ recipient: phone }, one)), 'delivered')
    }
    const left = await traces(other.accountId)
    const told = await app.call('GET', '/api/v1/contacts/export?email=ann@example.com', { key })
    assert.equal(told.status, 200, told.text)
    const [sms] = told.body.sms
    assert.deepEqual([sms.content, sms.events.length, told.body.sms_optout], ['Hello', 2, null])
    assert.ok(told.body.webhooks.length > 0)
    const body = { email: 'ann@example.com', confirm: true }
    const erased = await app.call('POST', '/api/v1/contacts/erase', { key, body })
    assert.deepEqual([erased.status, erased.body.erased.sms, erased.body.erased.sms_events], [200, 1, 2])
    assert.deepEqual([(await traces(accountId)).count, await traces(other.accountId)], [0, left])
    const again = await send({ recipient: phone }, key)
    assert.deepEqual([again.status, again.body.code], [422, 'recipient_suppressed'])
    accepted(await send({ recipient: phone }, other.key))
  })
})

test('there are no templates of SMS, and their list says so', async () => {
  const path = '/v3/transactionalSMS/templates'
  const { status, body } = await app.call('GET', `${path}?limit=100&offset=1&sort=asc`)
  assert.deepEqual([status, body.count, body.templates], [200, 0, []])
  assert.equal((await app.call('GET', `${path}?limit=101`)).body.code, 'out_of_range')
})
