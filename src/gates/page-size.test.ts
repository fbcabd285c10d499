import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../test/app.ts'
import { sql } from '../kernel/sql.ts'

const app = await makeApp()

test('a page of large rows is refused, smaller ones are given, and the list can be read to its end', async () => {
  const { key, accountId } = await app.makeAccount()
  await app.pools.db.run(sql`
    insert into templates (account_id, name, subject, html, sender)
    select ${accountId}, 'T' || n, 'S', repeat('<p>hello</p>', 350000), '{"email": "shop@example.com"}'
      from generate_series(1, 20) n`)
  const list = (asked: string) => app.call('GET', `/v3/smtp/templates?${asked}`, { key })
  const refused = await list('limit=1000')
  assert.equal(refused.status, 400)
  assert.equal(refused.body.code, 'invalid_parameter')
  assert.match(refused.body.message, /larger than 64 MB together: ask for fewer with limit/)
  const names: string[] = []
  for (let cursor = ''; cursor !== null; ) {
    const { status, body } = await list(`limit=10${cursor && `&cursor=${cursor}`}`)
    assert.equal(status, 200)
    names.push(...body.templates.map((one: { name: string }) => one.name))
    cursor = body.next_cursor
  }
  assert.equal(new Set(names).size, 20)
})
