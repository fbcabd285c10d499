// After a restore nothing leaves twice, where that is asked for.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../app.ts'
import { makeEmptyDatabase, query } from '../processes/empty-database.ts'
import { until } from '../until.ts'
import { backup, dataFolder, restore } from './grounds.ts'

const app = await makeApp()
const { accountId } = app
const sender = { name: 'Shop', email: 'shop@example.com' }

async function post(path: string, body: object) {
  const reply = await app.call('POST', path, { body })
  assert.ok(reply.status < 300, `${path}: ${reply.text}`)
  return reply.body
}

const mail = (to: string, scheduled_at?: string) =>
  post('/api/v1/transactional/send', {
    from: sender.email,
    to,
    subject: 'Hello',
    text: 'Hello.',
    scheduled_at,
  })

async function makeCampaign(name: string, listId: number) {
  const content = { subject: 'News', htmlContent: '<p>This is new.</p>', recipients: { listIds: [listId] } }
  return (await post('/v3/emailCampaigns', { name, sender, ...content })).id
}

async function makeOutreach() {
  const insert = async (text: string, values: unknown[]) =>
    (await query(app.databaseUrl, text, values))[0]?.id
  const mailbox = await insert(
    `insert into outreach_mailboxes (account_id, email, name, smtp, imap, sealed, daily_limit, created_at, modified_at)
     values ($1, 'anna@shop.example', 'Anna', '{}', '{}', '\\x00', 50, now(), now()) returning id`,
    [accountId],
  )
  for (const [name, due] of [
    ['due', '-1 minute'],
    ['later', '3 days'],
  ]) {
    const sequence = await insert(
      `insert into outreach_sequences (account_id, name, mailbox_ids, steps, schedule, status, created_at, modified_at)
       values ($1, $2, array[$3::bigint], '[]', '{}', 'running', now(), now()) returning id`,
      [accountId, name, mailbox],
    )
    const prospect = await insert(
      `insert into outreach_prospects (account_id, email, created_at, modified_at)
       values ($1, $2 || '@company.example', now(), now()) returning id`,
      [accountId, name],
    )
    await query(
      app.databaseUrl,
      `insert into outreach_enrollments
         (account_id, sequence_id, prospect_id, next_step, mailbox_id, due_at, created_at)
       values ($1, $2, $3, 1, $4, now() + $5::interval, now())`,
      [accountId, sequence, prospect, mailbox, due],
    )
  }
  await query(
    app.databaseUrl,
    `insert into outreach_messages
       (account_id, id, mailbox_id, sequence_id, message_id, recipient, subject, text, state, created_at)
     values ($1, gen_random_uuid(), $2, 1, '<1@shop.example>', 'due@company.example', 'Re: Hm', 'Yes.', 'queued',
             now())`,
    [accountId, mailbox],
  )
}

const file = (async () => {
  await mail('due@example.com')
  await mail('later@example.com', new Date(Date.now() + 3_600_000).toISOString())
  await post('/v3/transactionalSMS/send', {
    sender: 'Shop',
    recipient: '33680065433',
    content: 'Hello',
    type: 'transactional',
  })
  const { id: listId } = await post('/v3/contacts/lists', { name: 'Readers' })
  await post('/v3/contacts', { email: 'reader@example.com', listIds: [listId] })
  await post(`/v3/emailCampaigns/${await makeCampaign('Now', listId)}/sendNow`, { confirm: true })
  await makeCampaign('Draft', listId)
  for (const event of ['signed_up', 'never'])
    await post('/api/v1/automations', {
      name: event,
      trigger_type: 'custom_event',
      event_name: event,
      steps: [{ delay_minutes: 0, subject: 'Welcome', html: '<p>Welcome.</p>', from: sender.email }],
    })
  await post('/v3/events', { event_name: 'signed_up', identifiers: { email_id: 'reader@example.com' } })
  for (const [cart, due] of [
    ['due', '-1 minute'],
    ['later', '1 hour'],
  ])
    await query(
      app.databaseUrl,
      `insert into automation_runs (account_id, email, cart_id, context, schedule, due_at, key_id, mode, started_at)
       select $1, 'reader@example.com', $2, '{}', array[now() + $3::interval], now() + $3::interval, id, 'live', now()
         from api_keys where account_id = $1 limit 1`,
      [accountId, cart, due],
    )
  await makeOutreach()
  return (await backup(app.databaseUrl, dataFolder('source'))).file
})()

const all = { messages: 1, sms: 1, answers: 1, campaigns: 1, automations: 1, carts: 1, sequences: 1 }

const states = (url: string) =>
  query(
    url,
    `select 'message ' || recipient as what, status from messages
     union all select 'sms', status || ' ' || (due_at is null) from sms_messages
     union all select 'answer', state from outreach_messages
     union all select 'campaign ' || name, status from campaigns
     union all select 'automation ' || name, status from automations
     union all select 'cart ' || cart_id, concat(status, ' ' || reason) from automation_runs where cart_id is not null
     union all select 'sequence ' || name, concat(status, ' ' || paused_reason) from outreach_sequences
     order by 1`,
  ).then((rows) => Object.fromEntries(rows.map(({ what, status }) => [what, status])))

test('without being asked, a restore only tells what will be sent', async () => {
  const url = await makeEmptyDatabase()
  const { waiting, keptBack } = await restore(url, { file: await file })
  assert.deepEqual([waiting, keptBack], [all, false])
  assert.deepEqual(await states(url), await states(app.databaseUrl))
})

test('with --pause all that may have left is kept back, and what is due later stays', async () => {
  const url = await makeEmptyDatabase()
  const config = { dataDir: dataFolder('paused'), secretKey: undefined }
  const { waiting, keptBack } = await restore(url, { file: await file, config, pause: true })
  assert.deepEqual([waiting, keptBack], [all, true])
  assert.deepEqual(await states(url), {
    'message due@example.com': 'cancelled',
    'message later@example.com': 'queued',
    sms: 'failed true',
    answer: 'failed',
    'campaign Now': 'suspended',
    'campaign Draft': 'draft',
    'automation signed_up': 'paused',
    'automation never': 'active',
    'cart due': 'stopped restored',
    'cart later': 'running',
    'sequence due': 'paused restored',
    'sequence later': 'running',
  })
  const restored = await makeApp({ databaseUrl: url, deliver: true })
  const call = (method: string, path: string, body?: object) =>
    restored.call(method, path, { key: app.key, ...(body ? { body } : {}) })
  const [told] = (await call('GET', '/api/v1/messages?to=due@example.com')).body.data
  assert.deepEqual([told.status, told.last_error.code], ['cancelled', 'restored'])
  assert.equal((await call('PUT', '/v3/emailCampaigns/1/status', { status: 'queued' })).status, 204)
  const fresh = { from: sender.email, to: 'new@example.com', subject: 'Hello', text: 'Hello.' }
  assert.equal((await call('POST', '/api/v1/transactional/send', fresh)).status, 202)
  const recipients = async () =>
    (await query(url, 'select recipient from captured_messages')).map(({ recipient }) => recipient)
  await until(async () => (await recipients()).includes('new@example.com'), 'what is sent now')
  assert.deepEqual(await recipients(), ['new@example.com'])
})
