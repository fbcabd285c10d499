// A telephone number is one person's, however it is written.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import pg from 'pg'
import { sql } from '../../kernel/sql.ts'
import { accepted, makeSmsApp } from './fixtures/app.ts'

const app = await makeSmsApp()
const { db, send } = app

const written = ['+33 (0)6 12 34 56 78', '0033 0612345678', '33 6 12 34 56 78']

async function contact(email: string, body: object, key = app.key): Promise<void> {
  const reply = await app.call('POST', '/v3/contacts', { key, body: { email, ...body } })
  assert.equal(reply.status, 201, reply.text)
}

test('a contact that is blacklisted gets no SMS, in whichever spelling its number came', async () => {
  for (const SMS of written) {
    const { key } = await app.makeAccount()
    await contact('ann@example.com', { attributes: { SMS }, smsBlacklisted: true }, key)
    for (const recipient of written) assert.equal((await send({ recipient }, key)).status, 422, recipient)
    const twin = { email: 'twin@example.com', attributes: { SMS: '+33612345678' } }
    assert.equal((await app.call('POST', '/v3/contacts', { key, body: twin })).status, 400)
    const path = '/v3/contacts/%2B33%20(0)6%2012345678?identifierType=phone_id'
    assert.equal((await app.call('GET', path, { key })).body.email, 'ann@example.com')
  }
})

test('who is erased has the SMS erased that went to their number, and gets no other', async () => {
  await contact('bo@example.com', { attributes: { SMS: '+33 (0)7 51 23 45 67' } })
  const id = accepted(await send({ recipient: '+33751234567' }))
  const body = { email: 'bo@example.com', confirm: true }
  assert.equal((await app.call('POST', '/api/v1/contacts/erase', { body })).status, 200)
  assert.equal(await db.run(sql`select 1 from sms_messages where id = ${id}`), 0)
  assert.equal((await send({ recipient: '+33751234567' })).status, 422)
})

test('who is erased has those erased that went to their former number, unless it is another contact’s', async () => {
  const change = (email: string, SMS: string) =>
    app.call('PUT', `/v3/contacts/${email}`, { body: { attributes: { SMS } } })
  await contact('cy@example.com', { attributes: { SMS: '+33751234501' } })
  const before = accepted(await send({ recipient: '+33751234501' }))
  await change('cy@example.com', '+33751234502')
  const given = accepted(await send({ recipient: '+33751234502' }))
  await change('cy@example.com', '+33751234503')
  await contact('dee@example.com', { attributes: { SMS: '+33751234502' } })
  const told = (await app.call('GET', '/api/v1/contacts/export?email=cy@example.com')).body.sms
  assert.deepEqual(
    told.map((one: { recipient: string }) => one.recipient),
    ['33751234501'],
  )
  const body = { email: 'cy@example.com', confirm: true }
  assert.equal((await app.call('POST', '/api/v1/contacts/erase', { body })).body.erased.sms, 1)
  const isThere = async (id: number) => (await db.run(sql`select 1 from sms_messages where id = ${id}`)) === 1
  assert.deepEqual([await isThere(before), await isThere(given)], [false, true])
  for (const [number, status] of [
    ['01', 422],
    ['02', 201],
    ['03', 422],
  ])
    assert.equal((await send({ recipient: `+337512345${number}` })).status, status)
})

test('numbers that were kept with the zero lose it, unless it is their own or another contact has them', async () => {
  const { accountId, key } = await app.makeAccount()
  const kept = { one: '330612345601', two: '390312345678', three: '330612345603', four: '33612345603' }
  for (const [name, SMS] of Object.entries(kept)) {
    await contact(`${name}@example.com`, { attributes: {} }, key)
    await db.run(
      sql`update contacts set sms = ${SMS} where account_id = ${accountId} and email = ${`${name}@example.com`}`,
    )
  }
  const client = new pg.Client({ connectionString: app.databaseUrl })
  await client.connect()
  await client.query(await readFile('db/migrations/0114_phone_numbers.sql', 'utf8'))
  await client.end()
  const { body } = await app.call('GET', '/v3/contacts?sort=asc', { key })
  assert.deepEqual(
    body.contacts.map((one: { attributes: { SMS: string } }) => one.attributes.SMS),
    ['33612345601', '390312345678', '330612345603', '33612345603'],
  )
})
