import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { raiseNotice, resolveNotice } from './notices.ts'

const app = await makeApp()
const { db } = app.pools
const noon = new Date('2026-11-15T12:00:00.000Z')
const list = async (query = '', key = app.key) =>
  (await app.call('GET', `/api/v1/notices${query}`, { key })).body.data

test('one notice of a kind is open at a time, and its own account alone reads it', async () => {
  const about = { accountId: app.accountId, code: 'domain_broken', subject: 'shop.example' } as const
  const noted = { ...about, message: 'The record is gone.', details: { role: 'dkim' } }
  assert.equal(await raiseNotice(db, noted, noon), true)
  assert.equal(await raiseNotice(db, { ...noted, message: 'Again.' }, noon), false)
  const [open, ...others] = await list('?open=true')
  assert.deepEqual(others, [])
  assert.deepEqual(
    [open.code, open.subject, open.message, open.details, open.created_at, open.resolved_at],
    ['domain_broken', 'shop.example', 'The record is gone.', { role: 'dkim' }, noon.toISOString(), null],
  )
  const { key } = await app.makeAccount()
  assert.deepEqual(await list('', key), [])

  await resolveNotice(db, about, noon)
  assert.deepEqual(await list('?open=true'), [])
  assert.equal(await raiseNotice(db, noted, noon), true)
  assert.deepEqual(
    (await list()).map((one: { resolved_at: string | null }) => one.resolved_at),
    [null, noon.toISOString()],
  )
})

test('a list of notices is read page by page', async () => {
  const accountId = app.accountId
  for (const subject of ['a.example', 'b.example', 'c.example'])
    await raiseNotice(db, { accountId, code: 'domain_broken', subject, message: 'Broken.' }, noon)
  const { body } = await app.call('GET', '/api/v1/notices?limit=2')
  assert.equal(body.data.length, 2)
  const next = await app.call('GET', `/api/v1/notices?limit=2&cursor=${body.next_cursor}`)
  assert.notEqual(next.body.data[0].id, body.data[1].id)
  assert.equal((await app.call('GET', '/api/v1/notices?open=perhaps')).status, 422)
})
