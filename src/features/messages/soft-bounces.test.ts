// Which soft bounces of an address are kept, and when they count no more.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { readId } from '../../kernel/id.ts'
import { sql } from '../../kernel/sql.ts'
import { sendingWith } from './fixtures/sending.ts'
import { recordBounce } from './record-event.ts'
import { simulated, simulatedVerdicts } from './simulator.ts'

const app = await makeApp()
const { db } = app.pools
const { send } = sendingWith(app)
const day = 86_400_000

const isSuppressed = (email: string) =>
  db.run(sql`
    select 1
      from suppressions
     where account_id = ${app.accountId} and email = ${email} and reason = 'soft_bounce_limit'`)

test('of an address that bounces many times a day, the days before are not forgotten', async () => {
  const recipient = 'busy@example.com'
  const { body } = await send({ to: recipient })
  const message = { id: readId('msg', body.id) ?? '', accountId: app.accountId, recipient }
  const firstDay = Math.floor(Date.now() / day) * day - 3 * day
  const bounce = (at: Date) =>
    db.transaction((tx) => recordBounce(tx, { ...message, at }, simulated.softBounce, simulatedVerdicts.soft))
  for (let on = 0; on < 3; on++)
    for (let nth = 0; nth < 25; nth++) await bounce(new Date(firstDay + on * day + nth * 60_000))
  assert.equal(await isSuppressed(recipient), 0)
  await bounce(new Date(firstDay + 3 * day))
  assert.equal(await isSuppressed(recipient), 1)
})
