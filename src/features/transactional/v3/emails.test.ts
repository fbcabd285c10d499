import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'

const app = await makeApp()

test('the state of a batch counts all of it, whichever page is asked for', async () => {
  const batchId = crypto.randomUUID()
  const to = (name: string) => ({ to: [{ email: `${name}@example.com` }, { email: `${name}2@example.com` }] })
  const sent = await app.call('POST', '/v3/smtp/email', {
    body: {
      sender: { email: 'shop@example.com' },
      subject: 'Hello',
      textContent: 'Hi',
      scheduledAt: new Date(Date.now() + 3_600_000).toISOString(),
      batchId,
      messageVersions: ['a', 'b', 'c', 'd'].map(to),
    },
  })
  assert.equal(sent.status, 202, sent.text)
  const page = async (query: string) =>
    (await app.call('GET', `/v3/smtp/emailStatus/${batchId}?${query}`)).body
  const sizes = async (query: string) => {
    const { count, batches, next_cursor } = await page(query)
    return [count, batches.length, next_cursor === null]
  }
  assert.deepEqual(await sizes(''), [4, 4, true])
  assert.deepEqual(await sizes('limit=1'), [4, 1, false])
  assert.deepEqual(await sizes('offset=10'), [4, 0, true])
  assert.deepEqual(await sizes('limit=0'), [4, 0, true])
  for (const sort of ['asc', 'desc']) {
    const { next_cursor } = await page(`limit=3&sort=${sort}`)
    assert.deepEqual(await sizes(`limit=3&sort=${sort}&cursor=${next_cursor}`), [4, 1, true])
  }
  const other = `/v3/smtp/emailStatus/${crypto.randomUUID()}`
  for (const query of ['', '?offset=1', '?limit=0'])
    assert.equal((await app.call('GET', other + query)).status, 404)
})

test('the state of a batch is asked for by state and by day', async () => {
  const batchId = crypto.randomUUID()
  const body = {
    sender: { email: 'shop@example.com' },
    subject: 'Hello',
    textContent: 'Hi',
    scheduledAt: new Date(Date.now() + 3_600_000).toISOString(),
    batchId,
    messageVersions: ['a', 'b', 'c'].map((name) => ({ to: [{ email: `${name}@example.com` }] })),
  }
  const [first] = (await app.call('POST', '/v3/smtp/email', { body })).body.messageIds
  const path = (identifier: string) => `/v3/smtp/emailStatus/${encodeURIComponent(identifier)}`
  assert.equal((await app.call('DELETE', `/v3/smtp/email/${encodeURIComponent(first)}`)).status, 204)
  const ask = async (query: string) => (await app.call('GET', `${path(batchId)}?${query}`)).body
  const states = async (query: string) => {
    const { count, batches } = await ask(query)
    return [count, ...batches.map(({ status }: { status: string }) => status)]
  }
  assert.deepEqual(await states('status=queued'), [2, 'queued', 'queued'])
  assert.deepEqual(await states('status=queued&limit=1'), [2, 'queued'])
  assert.deepEqual(await states('status=error'), [1, 'error'])
  assert.deepEqual(await states('status=processed'), [0])
  assert.equal((await ask('status=gone')).code, 'invalid_parameter')
  const { next_cursor } = await ask('status=queued&limit=1')
  assert.equal((await ask(`status=error&cursor=${next_cursor}`)).code, 'invalid_parameter')
  const today = new Date().toISOString().slice(0, 10)
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  assert.equal((await states(`startDate=${yesterday}&endDate=${today}`))[0], 3)
  assert.deepEqual(await states('startDate=2026-01-01&endDate=2026-01-02'), [0])
  const one = await app.call('GET', `${path(first)}?status=queued&limit=0`)
  assert.deepEqual([one.status, one.body.status], [200, 'error'])
})

test('a message is not processed because its first recipient gets none: other copies tell its state', async () => {
  const { key } = await app.makeAccount()
  const call = (method: string, path: string, body?: object) => app.call(method, path, { key, body })
  await call('POST', '/api/v1/suppressions', { email: 'gone@example.com' })
  const { messageId, batchId } = (
    await call('POST', '/v3/smtp/email', {
      ...{ sender: { email: 'shop@example.com' }, subject: 'Hello', textContent: 'Hi' },
      to: [{ email: 'gone@example.com' }, { email: 'here@example.com' }],
      scheduledAt: new Date(Date.now() + 3_600_000).toISOString(),
    })
  ).body
  const path = (identifier: string) => `/v3/smtp/emailStatus/${encodeURIComponent(identifier)}`
  const state = async () => (await call('GET', path(messageId))).body.status
  assert.deepEqual(
    [await state(), (await call('GET', `${path(batchId)}?status=queued`)).body.count],
    ['queued', 1],
  )
  assert.equal((await call('DELETE', `/v3/smtp/email/${batchId}`)).status, 204)
  assert.equal(await state(), 'error')
})

test('a send is scheduled for a time without a zone too, which is UTC', async () => {
  const at = new Date(Math.ceil(Date.now() / 1000) * 1000 + 3_600_000).toISOString()
  const body = { sender: { email: 'shop@example.com' }, subject: 'Hello', textContent: 'Hi' }
  const asked = (scheduledAt: string) =>
    app.call('POST', '/v3/smtp/email', { body: { ...body, to: [{ email: 'ann@example.com' }], scheduledAt } })
  for (const text of [at.slice(0, 19), at.slice(0, 19).replace('T', ' ')]) {
    const reply = await asked(text)
    assert.equal(reply.status, 202, reply.text)
    const id = encodeURIComponent(reply.body.messageId)
    assert.equal((await app.call('GET', `/v3/smtp/emailStatus/${id}`)).body.scheduledAt, at)
  }
  assert.equal((await asked(at.slice(0, 10))).status, 400)
})
