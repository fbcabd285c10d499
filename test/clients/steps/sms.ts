// SMS, one at once and one later, and what is told of them.
import assert from 'node:assert/strict'
import { until } from '../../until.ts'
import type { Step } from './step.ts'

const sms = { sender: 'Shop', recipient: '+33612345678', content: 'Your parcel is on its way' }

export const smsSteps: Step[] = [
  {
    does: 'transactionalSms.sendTransacSms',
    // One client cannot send a tag as text.
    body: () => ({ ...sms, type: 'transactional' }),
    status: 201,
    gives: ({ reference, messageId, smsCount }) => {
      assert.deepEqual([typeof reference, Number.isSafeInteger(messageId), smsCount], ['string', true, 1])
    },
  },
  {
    does: 'transactionalSms.sendAsyncTransactionalSms',
    body: () => sms,
    status: 201,
    gives: ({ messageId }) => assert.ok(Number.isSafeInteger(messageId)),
  },
  {
    does: 'transactionalSms.getSmsEvents',
    before: async (_, { call }) => {
      const path = '/v3/transactionalSMS/statistics/events'
      await until(async () => (await call('GET', path)).body.events?.length > 0, 'what became of the SMS')
    },
    gives: ({ events }) => assert.ok(events.length > 0),
  },
  {
    does: 'transactionalSms.getTransacSmsReport',
    gives: ({ reports }) => assert.ok(reports[0].requests > 0),
  },
  {
    does: 'transactionalSms.getTransacAggregatedSmsReport',
    gives: ({ requests }) => assert.ok(requests > 0),
  },
]
