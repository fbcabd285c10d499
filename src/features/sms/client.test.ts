// The compatible provider's own client sends an SMS and reads what became of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrevoClient } from '@getbrevo/brevo'
import { makeSmsApp } from './fixtures/app.ts'

const app = await makeSmsApp({ sms: true, now: () => new Date() })

test('its calls are understood, and its types fit', async () => {
  const client = new BrevoClient({ apiKey: app.key, baseUrl: `${app.url}/v3` })
  const { transactionalSms } = client
  const sms = { sender: 'MyShop', recipient: '33612345678', content: 'Bonjour', tag: ['order'] }
  const sent = await transactionalSms.sendTransacSms(sms)
  assert.deepEqual([sent.smsCount, sent.usedCredits, typeof sent.reference], [1, 1, 'string'])
  const other = await transactionalSms.sendAsyncTransactionalSms({ ...sms, type: 'transactional' })
  for (const { messageId } of [sent, other]) await app.becomes(messageId, 'delivered')
  const { events = [] } = await transactionalSms.getSmsEvents({ event: 'delivered', tags: 'order' })
  assert.deepEqual(
    events.map(({ messageId }) => Number(messageId)).sort(),
    [sent.messageId, other.messageId].sort(),
  )
  assert.equal((await transactionalSms.getTransacAggregatedSmsReport({ days: 1 })).delivered, 2)
  assert.equal((await transactionalSms.getTransacSmsReport({ days: 1 })).reports?.[0]?.requests, 2)
  await assert.rejects(transactionalSms.sendTransacSms({ ...sms, recipient: '33123456789' }), /mobile/)
})
