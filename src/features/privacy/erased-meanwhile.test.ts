import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pg from 'pg'
import { makeApp } from '../../../test/app.ts'
import { until } from '../../../test/until.ts'
import { int, row } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { jobsOf, makeCampaign, makeList, progress } from '../campaigns/sending/fixtures/campaigns.ts'
import { captureTransport } from '../messages/capture.ts'
import { deliverThrough } from '../messages/fixtures/engine.ts'

const app = await makeApp()
const { accountId, key } = app
const { db } = app.pools
const now = () => new Date()

async function countNaming(email: string): Promise<number> {
  const { n } = await db.one(
    row<{ n: number }>({ n: int }),
    sql`
    select (select count(*) from messages where account_id = ${accountId} and recipient = ${email})::int
           + (select count(*) from delivery_queue where account_id = ${accountId})::int as n`,
  )
  return n
}

/** A campaign to two, in the midst of writing them down; `goOn` lets it end. */
async function freezing(email: string) {
  const owner = { accountId, keyId: (await app.makeKey()).id }
  const listId = await makeList(db, owner, [email, 'bob@example.com'])
  const id = await makeCampaign(db, owner, { recipients: { listIds: [listId] } })
  const holder = new pg.Client({ connectionString: app.databaseUrl })
  await holder.connect()
  after(() => holder.end())
  await holder.query('begin')
  await holder.query('select 1 from campaigns where id = $1 for update', [id])
  const run = jobsOf(db)
  const freezing = run('freeze')
  await until(async () => {
    const { rows } = await holder.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return rows.length > 0
  }, 'the recipients to be written down')
  const goOn = async () => {
    await holder.query('commit')
    await freezing
  }
  return { id, run, holder, goOn }
}

async function erase(email: string) {
  const body = { email, confirm: true }
  assert.equal((await app.call('POST', '/api/v1/contacts/erase', { key, body })).status, 200)
}

test('nothing is left of who is erased while a campaign writes down its recipients, and it is counted on', async () => {
  const { id, run, goOn } = await freezing('ann@example.com')
  await erase('ann@example.com')
  await goOn()
  const spent = sql`select sent::int as n from sending_days where account_id = ${accountId}`
  assert.deepEqual(await db.one(row<{ n: number }>({ n: int }), spent), { n: 1 })
  await run('feed')
  assert.equal(await countNaming('ann@example.com'), 1)
  const stop = deliverThrough({ db, now, transport: captureTransport(db, now) })
  await until(async () => (await countNaming('ann@example.com')) === 0, 'the queue to be empty')
  await stop()
  const { total, counts, kept } = await progress(db, id)
  assert.deepEqual([total, counts, kept], [2, { failed: 1 }, { cancelled: 1, failed: 1 }])
})

test('nor where the campaign is cancelled meanwhile, or would not have written to them', async () => {
  const { id, run, holder, goOn } = await freezing('eve@example.com')
  await holder.query(`update campaigns set status = 'cancelled' where id = $1`, [id])
  await erase('eve@example.com')
  await goOn()
  await run('follow')
  assert.equal(await countNaming('eve@example.com'), 0)
  const cancelled = await progress(db, id)
  assert.deepEqual(
    [cancelled.total, cancelled.counts, cancelled.kept],
    [2, { cancelled: 1 }, { cancelled: 2 }],
  )
  // Erased before, and a contact again since.
  const other = await freezing('eve@example.com')
  await erase('eve@example.com')
  await other.goOn()
  assert.equal(await countNaming('eve@example.com'), 0)
  const { total, counts, kept } = await progress(db, other.id)
  assert.deepEqual([total, counts, kept], [2, { queued: 1 }, { queued: 1, suppressed: 1 }])
})

test('who was erased and is a contact again is told of among those who are not written to', async () => {
  const { id, goOn } = await freezing('eve@example.com')
  await goOn()
  assert.deepEqual((await progress(db, id)).counts, { queued: 1, suppressed: 1 })
  await erase('eve@example.com')
  assert.equal(await countNaming('eve@example.com'), 0)
})

test('a message that was accepted while its person was erased goes with all that it said', async () => {
  const attachments = [{ filename: 'terms.txt', content: 'VGVybXM=' }]
  const to = 'cy@example.com'
  const body = { from: 'shop@example.com', to, subject: 'Order', text: 'For Cy.', attachments }
  assert.equal((await app.call('POST', '/api/v1/transactional/send', { key, body })).status, 202)
  // As if the erasure had committed first: it did not see the message.
  await db.run(sql`
    insert into suppressions (account_id, email, reason, source, created_at, id)
    values (${accountId}, erased_name(${to}), 'manual', 'erasure', now(), uuidv7())`)
  const stop = deliverThrough({ db, now, transport: captureTransport(db, now) })
  await until(async () => (await countNaming(to)) === 0, 'the queue to be empty')
  await stop()
  const { n } = await db.one(
    row<{ n: number }>({ n: int }),
    sql`
    select (select count(*) from message_bodies where account_id = ${accountId})::int
           + (select count(*) from message_attachments where account_id = ${accountId})::int as n`,
  )
  assert.equal(n, 0)
})
