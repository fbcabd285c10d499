import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../../test/until.ts'
import { bytes, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { onEvent, openRunning, step } from '../fixtures/running.ts'

let isThere = false
let asked = 0
let slow: Promise<void> | undefined
const { app, api, declare, happened, move, pass, subjects } = await openRunning({
  fetchAttachment: async () => {
    asked++
    await slow
    if (isThere) return Buffer.from('the guide')
    throw new Error('it answered 503')
  },
})
const { key, accountId } = app

const File = row<{ recipient: string; filename: string; content: Buffer }>({
  recipient: text,
  filename: text,
  content: bytes,
})

async function declareGuide(): Promise<void> {
  const { body: template } = await api('POST', '/v3/smtp/templates', key, {
    templateName: 'Guide',
    subject: 'Guide',
    sender: { email: 'shop@example.com' },
    htmlContent: '<p>Your guide is attached</p>',
    attachmentUrl: 'https://files.example/guide.pdf',
    isActive: true,
  })
  await declare(key, onEvent('asked', { delay_minutes: 0, template_id: template.id }))
}

test('the file of a step’s template is fetched once for all runs; without it the step waits', async () => {
  await declareGuide()
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

test('while a file is on its way the steps of other accounts are sent', async () => {
  const other = await app.makeAccount()
  await declare(other.key, onEvent('came', step(0, 'Welcome')))
  let arrive = () => {}
  slow = new Promise((resolve) => {
    arrive = resolve
  })
  await happened(key, 'asked', 'late@example.org')
  await happened(other.key, 'came', 'quick@example.org')
  const passing = pass(0)
  const isWrittenTo = async (email: string) => (await subjects(other.key, email)).length > 0
  await until(() => isWrittenTo('quick@example.org'), 'the mail of the quick one')
  // Also those that fall due by now.
  await declare(other.key, onEvent('stayed', step(1, 'Still here')))
  await happened(other.key, 'stayed', 'patient@example.org')
  move(2)
  await until(() => isWrittenTo('patient@example.org'), 'the mail of the patient one')
  assert.deepEqual(await subjects(key, 'late@example.org'), [])
  arrive()
  await passing
  assert.deepEqual(await subjects(key, 'late@example.org'), ['Guide'])
})
