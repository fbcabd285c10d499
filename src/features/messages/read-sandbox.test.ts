import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { newUuid, readId } from '../../kernel/id.ts'
import { insertCaptured } from './sandbox-queries.ts'

const app = await makeApp()
const head = 'From: Ann <ann@example.com>\r\nTo: bob@example.com\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n'

async function capture(raw: string): Promise<void> {
  const body = { from: 'ann@example.com', to: 'bob@example.com', subject: 'x', text: 'x' }
  const sent = await app.call('POST', '/api/v1/transactional/send', { body })
  await insertCaptured(app.pools.db, {
    id: newUuid(),
    accountId: app.accountId,
    messageId: readId('msg', sent.body.id) ?? '',
    recipient: 'bob@example.com',
    raw: Buffer.from(raw),
    at: new Date(),
  })
}

test('captured mail that nobody can read in bounds is shown by its header, and holds nobody up', async () => {
  const nested = Array.from({ length: 300 }, (_, n) => {
    const type = `Content-Type: multipart/mixed; boundary="b${n}"\r\n\r\n--b${n}\r\n`
    return n === 0 ? head + type : type
  })
  await capture(`${head}Content-Type: text/plain\r\n\r\nreadable\r\n`)
  await capture(nested.join(''))
  await capture(`${head}Content-Type: text/plain\r\n\r\n${'\r\n'.repeat(500_000)}`)
  let isAnswered = false
  const listing = app.call('GET', '/api/v1/sandbox/messages').finally(() => {
    isAnswered = true
  })
  let alive = 0
  while (!isAnswered) {
    assert.equal((await app.call('GET', '/livez')).status, 200)
    alive++
  }
  assert.ok(alive >= 10, `asked ${alive} times`)
  const { status, body } = await listing
  assert.equal(status, 200)
  type Shown = {
    from: string
    subject: string
    text: string | null
    headers: { name: string; value: string }[]
  }
  const shown = body.data.map(({ from, subject, text, headers }: Shown) => [
    from,
    subject,
    text?.trim() ?? text,
    headers.find(({ name }) => name === 'To')?.value,
  ])
  const one = (text: string | null) => ['ann@example.com', 'Grüße', text, 'bob@example.com']
  assert.deepEqual(shown, [one(null), one(null), one('readable')])
  const raw = await app.call('GET', `/api/v1/sandbox/messages/${body.data[1].id}/raw`)
  assert.equal(raw.text, nested.join(''))
})
