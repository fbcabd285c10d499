import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { suppress } from '../suppressions/suppressions.ts'

const app = await makeApp()
const { accountId } = app

const post = (path: string, body: object) => app.call('POST', path, { body })
const send = async (to: string) =>
  (await post('/api/v1/transactional/send', { from: 'shop@example.com', to, subject: 'Hello', text: 'Hi' }))
    .body

for (const reason of ['hard_bounce', 'soft_bounce_limit'] as const)
  test(`an erased person whose address had bounced (${reason}) stays suppressed when bounces are lifted`, async () => {
    const email = `${reason}@example.com`
    const why = { reason, source: 'bounce', messageId: null, at: new Date() }
    await suppress(app.pools.db, { accountId, email }, why)
    assert.equal((await post('/api/v1/contacts/erase', { email, confirm: true })).status, 200)
    assert.equal((await post('/v3/smtp/deleteHardbounces', {})).status, 204)
    assert.equal((await send(email)).error.code, 'recipient_suppressed')
    const { body } = await app.call('GET', `/api/v1/suppressions?email=${email}`)
    assert.deepEqual([body.data.length, body.data[0]?.erased, body.data[0]?.reason], [1, true, reason])
  })
