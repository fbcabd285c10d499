import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEvent, openRunning, step } from '../fixtures/running.ts'

const { app, api, declare, happened, pass } = await openRunning()

type Run = Record<string, unknown> & { id: string; email: string; status: string }

const list = async (key: string, query = ''): Promise<{ data: Run[]; next_cursor: string | null }> => {
  const reply = await api('GET', `/api/v1/automations/runs${query}`, key)
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

test('runs are listed with how far they are and why they ended, filtered and by pages', async () => {
  const { key } = await app.makeAccount()
  const one = await declare(key, onEvent('joined', step(0, 'One'), step(60, 'Two')))
  const other = await declare(key, onEvent('left', step(0, 'Bye')))
  for (const name of ['anna', 'bob', 'cleo']) await happened(key, 'joined', `${name}@example.com`)
  await happened(key, 'left', 'anna@example.com')
  await api('PUT', '/v3/contacts/bob@example.com', key, { emailBlacklisted: true })
  await pass(0)
  const { data, next_cursor } = await list(key)
  assert.equal(next_cursor, null)
  assert.deepEqual(
    data.map(({ email, status, reason, steps_done, steps }) => [email, status, reason, steps_done, steps]),
    [
      ['anna@example.com', 'finished', null, 1, 1],
      ['cleo@example.com', 'running', null, 1, 2],
      ['bob@example.com', 'stopped', 'unsubscribed', 0, 2],
      ['anna@example.com', 'running', null, 1, 2],
    ],
  )
  assert.deepEqual(data[1], {
    id: data[1]?.id,
    automation_id: one,
    email: 'cleo@example.com',
    cart_id: null,
    status: 'running',
    reason: null,
    steps: 2,
    steps_done: 1,
    next_at: '2026-11-15T13:00:00.000Z',
    started_at: '2026-11-15T12:00:00.000Z',
    ended_at: null,
  })
  const emails = async (query: string) =>
    (await list(key, query)).data.map(({ email }) => email.split('@')[0])
  assert.deepEqual(await emails(`?automation_id=${other}`), ['anna'])
  assert.deepEqual(await emails(`?automation_id=${one}&status=running`), ['cleo', 'anna'])
  assert.deepEqual(await emails('?status=failed'), [])
  assert.deepEqual(await emails('?email=ANNA@example.com'), ['anna', 'anna'])
  const first = await list(key, '?limit=3')
  const rest = await list(key, `?limit=3&cursor=${first.next_cursor}`)
  assert.deepEqual([...first.data, ...rest.data], data)
  const refused = await api('GET', `/api/v1/automations/runs?status=running&cursor=${first.next_cursor}`, key)
  assert.deepEqual([refused.status, refused.body.error.code], [422, 'invalid_parameter'])
  const theirs = await app.makeAccount()
  assert.deepEqual((await list(theirs.key)).data, [])
  assert.equal((await api('GET', `/api/v1/automations/runs?automation_id=${one}`, theirs.key)).status, 404)
  for (const bad of ['status=gone', 'automation_id=x%00', 'limit=0', 'nothing=1'])
    assert.ok((await api('GET', `/api/v1/automations/runs?${bad}`, key)).status >= 400, bad)
})

test('the reminders of a cart that every account has are among them', async () => {
  const { key } = await app.makeAccount()
  await api('PUT', '/api/v1/settings', key, { default_sender: { email: 'shop@example.com' } })
  const body = { email: 'anna@example.com', cart: { id: 'c1' } }
  const { status, text, body: left } = await api('POST', '/api/v1/automations/abandoned-cart', key, body)
  assert.equal(status, 202, text)
  const { data } = await list(key)
  assert.deepEqual(
    data.map(({ id, automation_id, cart_id, steps }) => [id, automation_id, cart_id, steps]),
    [[left.run_id, null, 'c1', 3]],
  )
})

test('a run rests from the moment that its automation is paused, and is over when it is deleted', async () => {
  const { key } = await app.makeAccount()
  const path = `/api/v1/automations/${await declare(key, onEvent('waits', step(60, 'One')))}`
  await happened(key, 'waits', 'anna@example.com')
  const shown = async (query = '') =>
    (await list(key, query)).data.map(({ status, reason, next_at, ended_at }) => [
      status,
      reason,
      next_at !== null,
      ended_at !== null,
    ])
  assert.deepEqual(await shown(), [['running', null, true, false]])
  await api('PUT', path, key, { status: 'paused' })
  assert.deepEqual(await shown(), [['paused', null, false, false]])
  assert.deepEqual([await shown('?status=running'), (await shown('?status=paused')).length], [[], 1])
  await api('PUT', path, key, { status: 'active' })
  assert.deepEqual(await shown('?status=running'), [['running', null, true, false]])
  await api('DELETE', path, key)
  const over = [['stopped', 'automation deleted', false, true]]
  assert.deepEqual([await shown('?status=stopped'), await shown('?status=running')], [over, []])
  await pass(60)
  assert.deepEqual(await shown(), over)
})
