// The service and its database may be on two machines, whose clocks never agree exactly.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { sendingWith } from './fixtures/sending.ts'

const aheadMs = 3_600_000
const app = await makeApp({ deliver: true, now: () => new Date(Date.now() + aheadMs) })
const { send, settled } = sendingWith(app)

test('a message leaves at once although the clock of the service is ahead; a scheduled one waits', async () => {
  const at = new Date(Date.now() + 2 * aheadMs).toISOString()
  const { body: later } = await send({ to: 'later@example.com', scheduled_at: at })
  const { body } = await send({ to: 'anna@example.com' })
  await settled(body.id, ['delivered'])
  assert.equal((await app.call('GET', `/api/v1/messages/${later.id}`)).body.status, 'queued')
})
