import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startAwsSms } from '../../../test/stand-ins/aws-sms.ts'
import type { SmsHandover } from '../../kernel/ports.ts'
import { openAwsSms } from './aws-sms.ts'

const handover: SmsHandover = {
  id: '7',
  accountId: '1',
  sender: 'MyShop',
  recipient: '+33612345678',
  content: 'Hello',
  encoding: 'gsm7',
  type: 'transactional',
  lifeSeconds: null,
}

test('an answer that begins and is never complete leaves it uncertain', { timeout: 30_000 }, async (t) => {
  const { endpoint, fail, sent, close } = await startAwsSms()
  t.after(close)
  const credentials = { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'secret' }
  const transport = await openAwsSms({ region: 'eu-west-3', endpoint, credentials, timeoutMs: 300 })
  t.after(() => transport.close())
  fail('stall')
  const outcome = await transport.send(handover)
  assert.deepEqual([outcome.kind, sent.length], ['uncertain', 1])
})
