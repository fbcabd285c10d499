import assert from 'node:assert/strict'
import { test } from 'node:test'
import { row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { app, base, call, create, db, shop } from './fixtures/campaigns.ts'

const Starter = row<{ key_id: string; mode: string }>({ key_id: text, mode: text })

const stored = (id: number) => db.one(Starter, sql`select key_id, mode from campaigns where id = ${id}`)

test('a scheduled one stays of the key that scheduled it, live or in test mode', async () => {
  const { accountId, key, listId } = await shop()
  const id = await create(key, { recipients: { listIds: [listId] } })
  const inTest = await app.makeKey({ mode: 'test' }, accountId)
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
  const schedule = (by: string) => call(by, 'POST', `${base}/${id}/schedule`, { scheduledAt })
  const rename = (by: string) => call(by, 'PUT', `${base}/${id}`, { name: 'Renamed' })
  await schedule(inTest.key)
  assert.equal((await rename(key)).status, 204)
  const { mode, key_id } = await stored(id)
  assert.deepEqual([mode, key_id], ['test', inTest.id])
  await schedule(key)
  assert.equal((await rename(inTest.key)).status, 204)
  assert.equal((await stored(id)).mode, 'live')
})

test('the copy of one with a long name has a whole one', async () => {
  const { key, listId } = await shop()
  const id = await create(key, { name: `${'x'.repeat(246)}😀yy`, recipients: { listIds: [listId] } })
  assert.equal((await call(key, 'PUT', `${base}/${id}/status`, { status: 'replicate' })).status, 204)
  const { body } = await call(key, 'GET', `${base}?status=draft`)
  assert.equal(body.campaigns[0].name, `Copy of ${'x'.repeat(246)}`)
})
