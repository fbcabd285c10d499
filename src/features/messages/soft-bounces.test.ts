// Which soft bounces of an address are kept, and when they count no more.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { readId } from '../../kernel/id.ts'
import type { Transport } from '../../kernel/ports.ts'
import { sql } from '../../kernel/sql.ts'
import { captureTransport } from './capture.ts'
import { deliverThrough } from './fixtures/engine.ts'
import { sendingWith } from './fixtures/sending.ts'
import { recordBounce } from './record-event.ts'
import { simulated, simulatedVerdicts } from './simulator.ts'

const app = await makeApp()
const { db } = app.pools
const { send, settled } = sendingWith(app)
const day = 86_400_000

/** A message to the address, and a way to have it bounce at a time. */
async function bouncing(recipient: string) {
  const { body } = await send({ to: recipient })
  const message = { id: readId('msg', body.id) ?? '', accountId: app.accountId, recipient }
  return (at: Date) =>
    db.transaction((tx) => recordBounce(tx, { ...message, at }, simulated.softBounce, simulatedVerdicts.soft))
}

const isSuppressed = (email: string) =>
  db.run(sql`
    select 1
      from suppressions
     where account_id = ${app.accountId} and email = ${email} and reason = 'soft_bounce_limit'`)

test('of an address that bounces many times a day, the days before are not forgotten', async () => {
  const recipient = 'busy@example.com'
  const bounce = await bouncing(recipient)
  const firstDay = Math.floor(Date.now() / day) * day - 3 * day
  for (let on = 0; on < 3; on++)
    for (let nth = 0; nth < 25; nth++) await bounce(new Date(firstDay + on * day + nth * 60_000))
  assert.equal(await isSuppressed(recipient), 0)
  await bounce(new Date(firstDay + 3 * day))
  assert.equal(await isSuppressed(recipient), 1)
})

describe('a message that the upstream takes', () => {
  const transport: Transport = {
    ...captureTransport(db, () => new Date()),
    kind: 'smtp',
    send: async () => ({ kind: 'accepted', upstreamId: null, response: '250 ok' }),
  }
  const counted = (email: string) =>
    db.run(sql`select 1 from soft_bounces where account_id = ${app.accountId} and email = ${email}`)

  async function sentTo(recipient: string, takenIsDelivered: boolean) {
    const bounce = await bouncing(recipient)
    await bounce(new Date())
    const stop = deliverThrough({ db, transport, takenIsDelivered })
    const { body } = await send({ to: recipient })
    await settled(body.id, ['sent'])
    await stop()
  }

  test('starts the count anew where nobody tells of deliveries', async () => {
    await sentTo('silent@example.com', true)
    assert.equal(await counted('silent@example.com'), 0)
  })

  test('changes nothing where the upstream will tell whether it was delivered', async () => {
    await sentTo('told@example.com', false)
    assert.equal(await counted('told@example.com'), 1)
  })
})
