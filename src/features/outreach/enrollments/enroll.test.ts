import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../../test/until.ts'
import { int, row } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { mailServer, makeMailbox, makeOutreach, makeProspects, makeSequence } from '../fixtures/outreach.ts'

const outreach = await makeOutreach()
const { db } = outreach.app.pools

test('one who is deleted at the same moment is not there', async (t) => {
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const id = await makeSequence(account, [await makeMailbox(account, server.port)])
  const emails = ['ann@globex.example', 'bob@globex.example']
  await makeProspects(account, emails)
  const enrolling = await db.transaction(async (tx) => {
    await tx.run(sql`delete from outreach_prospects where email = 'ann@globex.example'`)
    const asked = account.call('POST', `/v3/outreach/campaigns/${id}/enroll`, { emails })
    await until(someoneWaits, 'the call to wait')
    return { asked }
  })
  const { status, body } = await enrolling.asked
  assert.equal(status, 200)
  assert.deepEqual(body, { enrolled: 1, skipped: [{ prospect: 'ann@globex.example', reason: 'unknown' }] })
})

const Waiting = row<{ n: number }>({ n: int })

async function someoneWaits(): Promise<boolean> {
  const { n } = await db.one(
    Waiting,
    sql`select count(*)::int as n
          from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return n > 0
}
