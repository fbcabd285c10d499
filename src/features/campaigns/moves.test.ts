import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { maybe, row, text, time } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import {
  addContact,
  addMessage,
  app,
  base,
  call,
  campaign,
  create,
  db,
  put,
  shop,
  shown,
} from './fixtures/campaigns.ts'

const inAnHour = new Date(Date.now() + 3_600_000).toISOString()

const Started = row<{ status: string; key_id: string | null; mode: string | null; started_at: Date | null }>({
  status: text,
  key_id: maybe(text),
  mode: maybe(text),
  started_at: maybe(time),
})

const stored = (id: number) =>
  db.one(
    Started,
    sql`
    -- all accounts: the test made it
    select status, key_id, mode, started_at from campaigns where id = ${id}`,
  )

async function ready(names?: string[]) {
  const made = await shop(names)
  const id = await create(made.key, { recipients: { listIds: [made.listId] } })
  const post = (path: string, body?: object) => call(made.key, 'POST', `${base}/${id}/${path}`, body)
  const status = (word: string) => call(made.key, 'PUT', `${base}/${id}/status`, { status: word })
  return { ...made, id, post, status }
}

describe('sendNow', () => {
  test('without a confirmation sends nothing and tells how many would get it', async () => {
    const { key, listId, id, post } = await ready(['anna', 'bob', 'cleo'])
    await addContact(key, listId, 'dora')
    await call(key, 'PUT', '/v3/contacts/dora%40example.com', { emailBlacklisted: true })
    for (const body of [
      undefined,
      {},
      ...[false, null, 'true', 'yes', 1, [true], {}].map((confirm) => ({ confirm })),
    ]) {
      const reply = await post('sendNow', body)
      assert.deepEqual([reply.status, reply.body.code], [422, 'confirmation_required'])
      assert.match(reply.body.message, /3 contacts/)
    }
    assert.equal((await stored(id)).status, 'draft')
    assert.equal((await post('sendNow', { confirm: true })).status, 204)
    const found = await stored(id)
    assert.equal(found.status, 'in_process')
    assert.equal(found.mode, 'live')
    assert.ok(found.key_id && found.started_at)
    const { progress, statistics } = (await call(key, 'GET', `${base}/${id}`)).body
    assert.deepEqual(
      [progress.total, progress.queued, statistics.remaining],
      [4, 4, 4],
      'not taken for finished',
    )
    assert.equal((await call(key, 'GET', `/api/v1/campaigns/${id}/stats`)).body.recipients, 4)
    const again = await post('sendNow', { confirm: true })
    assert.deepEqual([again.status, again.body.code], [400, 'invalid_parameter'])
    assert.match(again.body.message, /in_process/)
  })

  test('needs none where the account acts as the provider does', async () => {
    const { key, id, post } = await ready()
    await call(key, 'PUT', '/api/v1/settings', { provider_compatibility: true })
    assert.equal((await post('sendNow')).status, 204)
    assert.equal((await stored(id)).status, 'in_process')
  })

  test('remembers the mode of the key, and obeys its sender domains', async () => {
    const { accountId, id } = await ready()
    const test = await app.makeKey({ mode: 'test' }, accountId)
    const foreign = await app.makeKey({ senderDomains: ['other.example'] }, accountId)
    const refused = await call(foreign.key, 'POST', `${base}/${id}/sendNow`, { confirm: true })
    assert.deepEqual([refused.status, refused.body.code], [403, 'sender_domain_not_allowed'])
    assert.equal((await call(test.key, 'POST', `${base}/${id}/sendNow`, { confirm: true })).status, 204)
    const found = await stored(id)
    assert.equal(found.mode, 'test')
    assert.equal(found.key_id, test.id)
  })

  test('is refused where nobody, or nobody known, would get it', async () => {
    const { key, listId } = await shop([])
    const to = async (recipients: object | undefined) => {
      const id = await create(key, { recipients })
      return (await call(key, 'POST', `${base}/${id}/sendNow`, { confirm: true })).body.message
    }
    assert.match(await to(undefined), /no recipients/)
    assert.match(await to({ listIds: [listId] }), /Nobody is on the lists.* campaign$/)
    assert.match(await to({ listIds: [listId], exclusionListIds: [listId] }), /and not excluded by it$/)
  })

  test('twice at the same time starts once', async () => {
    const { post } = await ready()
    const replies = await Promise.all(Array.from({ length: 5 }, () => post('sendNow', { confirm: true })))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [204, 400, 400, 400, 400])
  })
})

describe('the moves of a campaign', () => {
  test('schedule, pause, resume, back to a draft, and cancel for good', async () => {
    const { key, id, post, status } = await ready()
    const is = async (expected: string) => assert.equal((await shown(key, id)).status, expected)
    assert.equal((await post('schedule', {})).body.message, 'scheduledAt is missing')
    assert.equal((await post('schedule', { scheduledAt: '2020-01-01T00:00:00Z' })).status, 400)
    assert.equal((await post('schedule', { scheduledAt: inAnHour })).status, 204)
    assert.equal((await shown(key, id)).scheduledAt, inAnHour)
    await is('queued')
    assert.equal((await post('pause')).status, 204)
    await is('suspended')
    assert.equal((await post('resume')).status, 204)
    await is('queued')
    assert.equal((await stored(id)).started_at, null, 'nothing left before its time')
    assert.equal((await status('draft')).status, 204)
    await is('draft')
    const refused = await post('pause')
    assert.deepEqual([refused.status, refused.body.code], [400, 'invalid_parameter'])
    assert.match(refused.body.message, /is draft/)
    await put(id, 'in_process')
    assert.equal((await post('stop')).status, 204)
    await is('suspended')
    assert.equal((await status('draft')).status, 400, 'what has begun is no draft again')
    assert.equal((await status('queued')).status, 204)
    await is('in_process')
    assert.equal((await status('suspended')).status, 204)
    assert.equal((await post('cancel')).status, 204)
    await is('cancelled')
    for (const path of ['pause', 'resume', 'cancel', 'stop']) {
      const reply = await post(path)
      assert.equal(reply.status, 400, path)
      assert.match(reply.body.message, /cancelled/)
    }
    assert.equal((await post('sendNow', { confirm: true })).status, 400)
  })

  test('a change keeps a scheduled campaign fit to go', async () => {
    const { key, listId, id, post } = await ready()
    await post('schedule', { scheduledAt: inAnHour })
    const change = (body: object) => call(key, 'PUT', `${base}/${id}`, body)
    assert.equal((await change({ subject: 'New' })).status, 204)
    assert.equal((await change({ recipients: { listIds: [] } })).status, 400)
    const found = await shown(key, id)
    assert.deepEqual([found.status, found.subject, found.recipients.lists], ['queued', 'New', [listId]])
    const made = await create(key, { recipients: { listIds: [listId] }, scheduledAt: inAnHour })
    assert.equal((await shown(key, made)).status, 'queued')
  })

  test('archive and back, and a copy', async () => {
    const { accountId, key, id, status } = await ready()
    await put(id, 'sent')
    const messageId = await addMessage({ accountId, id, name: 'anna', status: 'queued' })
    assert.equal((await status('archive')).status, 400, 'messages are on their way')
    await db.run(
      sql`update messages set status = 'sent' where account_id = ${accountId} and id = ${messageId}`,
    )
    assert.equal((await status('archive')).status, 204)
    assert.equal((await shown(key, id)).status, 'archive')
    assert.equal((await status('archive')).status, 400)
    assert.equal((await status('darchive')).status, 204)
    assert.equal((await shown(key, id)).status, 'sent')
    assert.equal((await status('sent')).status, 204)
    assert.equal((await status('replicate')).status, 204)
    const { body } = await call(key, 'GET', `${base}?status=draft`)
    assert.deepEqual(
      [body.campaigns[0].name, body.campaigns[0].htmlContent],
      ['Copy of Spring', campaign.htmlContent],
    )
    for (const word of ['queued', 'replicateTemplate', 'gone', undefined as never])
      assert.equal((await status(word)).status, 400, word)
  })

  test('a draft is queued by its status only with a time, or as the provider does it', async () => {
    const { key, id, status } = await ready()
    const refused = await status('queued')
    assert.equal(refused.status, 400)
    assert.match(refused.body.message, /scheduledAt/)
    assert.equal((await status('sent')).status, 400)
    await call(key, 'PUT', '/api/v1/settings', { provider_compatibility: true })
    assert.equal((await status('queued')).status, 204)
    assert.equal((await stored(id)).status, 'in_process')
  })
})

test('a campaign larger than the cap or the quota leaves is refused at the call, in both namespaces', async () => {
  const { key, id, accountId } = await ready(['anna', 'bob', 'cleo'])
  const capped = (await app.makeKey({ dailyCap: 2 }, accountId)).key
  const own = (asking: string) =>
    call(asking, 'POST', '/api/v1/campaigns/send', { campaign_id: id, confirm: true })
  const refused = await call(capped, 'POST', `${base}/${id}/sendNow`, { confirm: true })
  assert.deepEqual([refused.status, refused.body.code], [429, 'not_enough_credits'])
  assert.match(
    refused.body.message,
    /^3 messages would go out, and the daily cap of the key, 2, leaves 2 today/,
  )
  const again = await own(capped)
  assert.deepEqual([again.status, again.body.error.code], [429, 'daily_cap_reached'])
  await db.run(sql`
    -- all accounts: the account itself
    update accounts set monthly_quota = 1 where id = ${accountId}`)
  assert.equal((await own(key)).body.error.code, 'monthly_quota_reached')
  assert.equal((await stored(id)).status, 'draft')
})

describe('campaign.send', () => {
  const path = '/api/v1/campaigns/send'

  test('sends one that exists', async () => {
    const { key, id } = await ready()
    const asked = await call(key, 'POST', path, { campaign_id: id })
    assert.deepEqual([asked.status, asked.body.error.code], [422, 'confirmation_required'])
    assert.match(asked.body.error.details[0].message, /Of 2 recipients 2 would get it/)
    const sent = await call(key, 'POST', path, { campaign_id: id, confirm: true })
    assert.equal(sent.status, 202)
    assert.deepEqual(sent.body, {
      campaign_id: id,
      status: 'in_process',
      recipients: { total: 2, sendable: 2, suppressed: 0, unsubscribed: 0 },
    })
    const again = await call(key, 'POST', path, { campaign_id: id, confirm: true })
    assert.deepEqual([again.status, again.body.error.code], [409, 'conflict'])
    assert.match(again.body.error.message, /^The campaign is in_process and cannot be sent/)
    const unknown = await call(key, 'POST', path, { campaign_id: 999_999, confirm: true })
    assert.deepEqual([unknown.status, unknown.body.error.param], [404, 'campaign_id'])
  })

  test('sends one given with the call, once for one idempotency key', async () => {
    const { key, listId } = await shop()
    const body = {
      subject: 'Hi',
      from: 'Shop <a@shop.example>',
      html: '<p>Hello you</p>',
      list_id: listId,
      tag: 't',
      reply_to: 'b@shop.example',
    }
    assert.equal((await call(key, 'POST', path, body)).status, 422)
    assert.equal((await call(key, 'GET', base)).body.count, 0, 'nothing is left of the refused one')
    const send = () =>
      app.call('POST', path, {
        key,
        body: { ...body, confirm: true, scheduled_at: inAnHour },
        headers: { 'idempotency-key': 'one' },
      })
    const [first, second] = [await send(), await send()]
    assert.equal(first.status, 202, first.text)
    assert.equal(second.text, first.text)
    assert.equal(second.headers.get('idempotency-replayed'), 'true')
    const { campaigns } = (await call(key, 'GET', base)).body
    assert.equal(campaigns.length, 1)
    assert.deepEqual(
      [campaigns[0].name, campaigns[0].status, campaigns[0].replyTo, campaigns[0].scheduledAt],
      ['Hi', 'queued', 'b@shop.example', inAnHour],
    )
  })

  test('refuses in its own words', async () => {
    const { key, listId, id } = await ready()
    const inline = {
      subject: 'Hi',
      from: 'a@shop.example',
      html: '<p>Hello you</p>',
      list_id: listId,
      confirm: true,
    }
    const bad: [object, string, string][] = [
      [{ campaign_id: id, subject: 'X', confirm: true }, 'subject', 'invalid_parameter'],
      [{ confirm: true }, 'list_id', 'missing_parameter'],
      [{ ...inline, list_id: 999_999 }, 'list_id', 'invalid_parameter'],
      [{ ...inline, from: undefined }, 'from', 'missing_parameter'],
      [{ ...inline, html: undefined }, 'html', 'content_missing'],
      [{ ...inline, html: '' }, 'html', 'content_missing'],
      [{ ...inline, html: 'x'.repeat(1_000_001) }, 'html', 'invalid_parameter'],
      [{ ...inline, html: '<p>{{ a | nofilter }}</p>' }, 'html', 'template_invalid'],
      [{ ...inline, html: undefined, template_id: 999_999 }, 'template_id', 'invalid_parameter'],
      [{ ...inline, scheduled_at: '2020-01-01T00:00:00Z' }, 'scheduled_at', 'invalid_parameter'],
      [{ ...inline, zzz: 1 }, 'zzz', 'unknown_parameter'],
    ]
    for (const [body, param, code] of bad) {
      const { status, body: said, text: whole } = await call(key, 'POST', path, body)
      assert.equal(status, 422, whole)
      assert.deepEqual([said.error.param, said.error.code], [param, code], whole)
      assert.doesNotMatch(said.error.message, /htmlContent|templateId|scheduledAt/)
    }
  })
})
