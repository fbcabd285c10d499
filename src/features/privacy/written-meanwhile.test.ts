import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { newUuid } from '../../kernel/id.ts'
import { account, app, processOf, query } from '../contacts/import/fixtures/importer.ts'
import { importChunk } from '../contacts/import/import-chunk.ts'
import { advanceProcess, claimProcess, takeChunk } from '../contacts/import/process-queries.ts'
import { insertOptin, takeTurn } from '../transactional/double-optin/queries.ts'

test('nothing is left of who is erased while an import works off the rows that name them', async () => {
  const shop = await account()
  const jsonBody = [
    { email: 'ann@example.com', attributes: { SMS: '+33612345678' } },
    { email: 'ann@example.com', consentDate: 'yesterday' },
  ]
  const call = (path: string, body: object) => app.call('POST', path, { key: shop.key, body })
  const { processId } = (await call('/v3/contacts/import', { jsonBody })).body
  const ref = { accountId: shop.accountId, id: String(processId) }
  const at = new Date(Date.now() + 1000)
  const { erasing } = await app.pools.db.transaction(async (tx) => {
    const process = await claimProcess(tx, { now: at, of: 'rows' })
    assert.ok(process)
    const { rows } = await takeChunk(tx, ref, 0)
    await advanceProcess(tx, ref, await importChunk(tx, process, rows, at), at)
    const erasing = call('/api/v1/contacts/erase', { email: 'ann@example.com', confirm: true })
    await sleep(1_000)
    return { erasing }
  })
  const { status, body } = await erasing
  assert.deepEqual([status, body.erased.contact], [200, 1])
  const { info } = await processOf(shop, processId)
  assert.deepEqual(info.import.faultyRows, [
    { line: 2, email: '[erased]', reason: info.import.faultyRows[0].reason },
  ])
  const numbers = await query('select reason from sms_optouts where account_id = $1', [shop.accountId])
  assert.deepEqual(numbers, [{ reason: 'erasure' }])
})

test('nor while they are being asked to confirm a subscription', async () => {
  const { accountId, key } = await account()
  const email = 'bo@example.com'
  const { erasing } = await app.pools.db.transaction(async (tx) => {
    await takeTurn(tx, { accountId, email })
    await insertOptin(tx, {
      accountId,
      id: newUuid(),
      email,
      attributes: {},
      include_list_ids: [],
      exclude_list_ids: [],
      redirect_url: 'https://shop.example/',
      key_id: newUuid(),
      created_at: new Date(),
    })
    const erasing = app.call('POST', '/api/v1/contacts/erase', { key, body: { email, confirm: true } })
    await sleep(1_000)
    return { erasing }
  })
  assert.equal((await erasing).body.erased.double_optins, 1)
})
