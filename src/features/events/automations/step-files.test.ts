import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytes, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { onEvent, openRunning } from '../fixtures/running.ts'

let isThere = false
let asked = 0
const { app, api, declare, happened, pass, subjects } = await openRunning(async () => {
  asked++
  if (isThere) return Buffer.from('the guide')
  throw new Error('it answered 503')
})
const { key, accountId } = app

const File = row<{ recipient: string; filename: string; content: Buffer }>({
  recipient: text,
  filename: text,
  content: bytes,
})

test('the file of a step’s template is fetched once for all runs; without it the step waits', async () => {
  const { body: template } = await api('POST', '/v3/smtp/templates', key, {
    templateName: 'Guide',
    subject: 'Guide',
    sender: { email: 'shop@example.com' },
    htmlContent: '<p>Your guide is attached</p>',
    attachmentUrl: 'https://files.example/guide.pdf',
    isActive: true,
  })
  await declare(key, onEvent('asked', { delay_minutes: 0, template_id: template.id }))
  const people = ['a@example.org', 'b@example.org', 'c@example.org']
  for (const email of people) await happened(key, 'asked', email)
  await pass(0)
  assert.deepEqual([asked, await subjects(key, 'a@example.org')], [1, []])
  isThere = true
  await pass(61)
  assert.equal(asked, 2)
  const files = await app.pools.db.many(
    File,
    sql`
    select m.recipient, f.filename, f.content
      from messages m
      join message_attachments f on f.message_id = m.id
     where m.account_id = ${accountId}
     order by m.recipient`,
  )
  assert.deepEqual(
    files.map(({ recipient, filename, content }) => [recipient, filename, content.toString()]),
    people.map((email) => [email, 'guide.pdf', 'the guide']),
  )
  await pass(61)
  assert.deepEqual(await subjects(key, 'a@example.org'), ['Guide'])
})
