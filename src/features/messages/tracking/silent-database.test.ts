import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { until } from '../../../../test/until.ts'
import { readId } from '../../../kernel/id.ts'
import { sql } from '../../../kernel/sql.ts'
import { openTrackingKeys } from '../../../main/wire.ts'
import { clickToken } from './tokens.ts'

const app = await makeApp()
const { db } = app.pools

test('a database that keeps silent keeps nobody from the page behind a link, and notes the click later', async () => {
  const url = 'https://shop.example/sale'
  const body = { from: 'shop@example.com', to: 'anna@example.com', subject: 'Sale', text: url }
  const { id } = (await app.call('POST', '/api/v1/transactional/send', { body })).body
  const token = clickToken(await openTrackingKeys(db), readId('msg', id) ?? '', url)
  const clicks = async () => {
    const { body: message } = await app.call('GET', `/api/v1/messages/${id}`)
    return message.events.filter(({ type }: { type: string }) => type === 'click').length
  }
  await db.transaction(async (tx) => {
    await tx.run(sql`lock table messages in access exclusive mode`)
    const started = performance.now()
    const seen = await fetch(`${app.url}/t/${token}`, { redirect: 'manual' })
    assert.deepEqual([seen.status, seen.headers.get('location')], [302, url])
    assert.ok(performance.now() - started < 6_000)
  })
  await until(async () => (await clicks()) === 1, 'the click')
})
