import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { bool, maybe, row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { addContact, addList } from '../contacts/unsubscribe/fixtures/people.ts'
import { suppress } from '../suppressions/suppressions.ts'
import { countRecipients, type Recipients, recipientRows, resolveRecipients } from './recipients-queries.ts'

const Row = row<{ email: string; list_id: string | null; is_unsubscribed: boolean; is_suppressed: boolean }>({
  email: text,
  list_id: maybe(text),
  is_unsubscribed: bool,
  is_suppressed: bool,
})

describe('the recipients of a campaign', async () => {
  const app = await makeApp()
  const { db } = app.pools
  const { accountId, key } = app
  const at = new Date('2026-11-01T10:00:00Z')
  const ids: Record<string, string> = {}
  let [first, second, out, segmentId, exSegmentId] = [0, 0, 0, 0, 0]

  const segment = async (value: string) =>
    (
      await app.call('POST', '/v3/segments', {
        key,
        body: { name: value, attribute: 'FIRSTNAME', operator: 'eq', value },
      })
    ).body.id

  before(async () => {
    for (const name of ['anna', 'bob', 'cleo', 'dora', 'emil', 'finn'])
      ids[name] = await addContact(db, accountId, `${name}@example.com`)
    const of = (...names: string[]) => names.map((name) => ids[name] ?? '')
    first = Number(await addList(db, accountId, 'first', of('anna', 'bob', 'cleo')))
    second = Number(await addList(db, accountId, 'second', of('bob', 'cleo', 'dora')))
    out = Number(await addList(db, accountId, 'out', of('dora')))
    const nobody = await app.makeAccount()
    await addContact(db, nobody.accountId, 'anna@example.com')
    await db.run(sql`
      insert into contacts (account_id, ext_id, created_at, modified_at)
      values (${accountId}, 'no address', ${at}, ${at})`)
    await db.run(sql`
      update contacts set attributes = '{"FIRSTNAME": "Eve"}'
       where account_id = ${accountId} and email in ('emil@example.com', 'anna@example.com')`)
    await db.run(sql`
      update contacts set attributes = '{"FIRSTNAME": "Not"}' where account_id = ${accountId} and id = ${ids.bob}`)
    ;[segmentId, exSegmentId] = [await segment('Eve'), await segment('Not')]
  })

  async function rowsOf(recipients: Recipients) {
    const resolved = await resolveRecipients(db, accountId, recipients)
    const found = await db.many(
      Row,
      sql`
      select email, list_id, is_unsubscribed, is_suppressed
        from (${recipientRows(accountId, resolved)}) r
       where contact_id > 0
       order by contact_id`,
    )
    return found.map(({ email, list_id }) => [email.replace('@example.com', ''), Number(list_id)])
  }

  test('come once each, by the lowest of their lists, without those who are left out', async () => {
    const lists = { listIds: [second, first] }
    assert.deepEqual(await rowsOf({ listIds: [first] }), [
      ['anna', first],
      ['bob', first],
      ['cleo', first],
    ])
    assert.deepEqual(await rowsOf({ ...lists, exclusionListIds: [out], segmentIds: [segmentId] }), [
      ['anna', first],
      ['bob', first],
      ['cleo', first],
      ['emil', 0],
    ])
    assert.deepEqual(await rowsOf({ listIds: [first], exclusionSegmentIds: [exSegmentId] }), [
      ['anna', first],
      ['cleo', first],
    ])
    assert.deepEqual(await rowsOf({}), [])
  })

  test('name what is no more', async () => {
    const found = await resolveRecipients(db, accountId, {
      listIds: [first, 999],
      exclusionSegmentIds: [998],
    })
    assert.deepEqual(found.missing, ['list 999', 'segment 998'])
  })

  test('are counted by whether they may be written to', async () => {
    const to = { listIds: [first, second], segmentIds: [segmentId] }
    const why = { reason: 'manual', source: 'api', messageId: null, at } as const
    assert.deepEqual(await countRecipients(db, accountId, to), {
      total: 5,
      sendable: 5,
      suppressed: 0,
      unsubscribed: 0,
    })
    await suppress(db, { accountId, email: 'bob@example.com' }, why)
    await db.run(sql`
      insert into suppressions (account_id, email, reason, source, created_at, id)
      values (${accountId}, erased_name('cleo@example.com'), 'manual', 'erasure', ${at}, gen_random_uuid())`)
    await db.run(
      sql`update contacts set status = 'unsubscribed' where account_id = ${accountId} and id = ${ids.dora}`,
    )
    // Was on the list and left it, and the segment would bring them back.
    await db.run(sql`
      insert into list_unsubscriptions (account_id, list_id, contact_id, at)
      values (${accountId}, ${second}, ${ids.emil}, ${at})`)
    assert.deepEqual(await countRecipients(db, accountId, to), {
      total: 5,
      sendable: 1,
      suppressed: 2,
      unsubscribed: 2,
    })
  })
})
