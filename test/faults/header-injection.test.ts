// Whatever stands in any string of a send: it is refused, or the message has the expected header lines and no other.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import PostalMime from 'postal-mime'
import { listCaptured } from '../../src/features/messages/sandbox-queries.ts'
import { makeApp } from '../app.ts'
import { until } from '../until.ts'
import { fieldNames, headOf, partHeads } from './raw-message.ts'

const app = await makeApp({ deliver: true, env: { POSTHORN_RATE_LIMIT_FACTOR: '10000' } })

const breaks = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  '\t',
  '\v',
  '\f',
  '\x1b',
  '\x7f',
  '\x85',
  '\u2028',
  '\u2029',
  '\ud800',
]
const marks = [
  '"',
  '\\',
  '<',
  '>',
  ',',
  ';',
  ':',
  '=?utf-8?q?a?=',
  '?=',
  '@',
  '(',
  '--',
  ' ',
  '\u202e',
  '🎺',
  'é',
]
const lines = [
  '\r\nBcc: x@y.example',
  '\nX-Evil: 1',
  '\r\n\r\nbody',
  '\u2028Bcc: x@y.example',
  '\x85X-Evil: 1',
]
// Rare enough that most messages get past the first check.
const piece = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...marks) },
  { weight: 5, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
  { weight: 2, arbitrary: fc.constantFrom(...breaks, ...lines) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
)
const text = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''))

type Body = Record<string, unknown>
const into: Record<string, (value: string) => Body> = {
  fromName: (name) => ({ from: { email: 'shop@example.com', name } }),
  fromText: (name) => ({ from: `${name} <shop@example.com>` }),
  fromEmail: (value) => ({ from: { email: `${value}@example.com` } }),
  toName: (name) => ({ to: { email: 'anna@example.org', name } }),
  toText: (name) => ({ to: `"${name}" <anna@example.org>` }),
  toEmail: (value) => ({ to: `anna@example.org${value}` }),
  subject: (subject) => ({ subject }),
  subjectParam: (name) => ({ subject: 'Hello {{ params.name }}', params: { name } }),
  textParam: (name) => ({ text: '{{ params.name }}', html: '<p>{{ params.name }}</p>', params: { name } }),
  paramName: (name) => ({ subject: 'Hello {{ params.a }}', params: { [name]: 'x' } }),
  template: (subject) => ({ subject, params: {} }),
  replyName: (name) => ({ reply_to: { email: 'reply@example.com', name } }),
  replyText: (reply_to) => ({ reply_to }),
  headerName: (name) => ({ headers: { [`X-${name}`]: 'a' } }),
  headerValue: (value) => ({ headers: { 'X-Order': value, 'List-Id': value.slice(0, 3) } }),
  tag: (tag) => ({ tag }),
  metadata: (value) => ({ metadata: { [value.slice(0, 20)]: value } }),
  filename: (filename) => ({ attachments: [{ filename, content: 'YWJj' }] }),
  contentType: (content_type) => ({ attachments: [{ filename: 'a', content_type, content: 'YWJj' }] }),
  contentId: (content_id) => ({ attachments: [{ filename: 'a.png', content_id, content: 'YWJj' }] }),
  html: (html) => ({ html, track_clicks: true }),
  text: (body) => ({ text: body }),
}
const changes = fc
  .array(fc.tuple(fc.constantFrom(...Object.keys(into)), text), { minLength: 1, maxLength: 3 })
  .map((chosen) => chosen.map(([field, value]) => into[field]?.(value) ?? {}))

function expectedNames(body: Body): string[] {
  const own = ['From', 'To', 'Subject', 'Date', 'Message-ID', 'MIME-Version', 'Content-Type']
  return [...own, ...Object.keys(body.headers ?? {})].sort()
}

async function rawOf(id: string, to: string): Promise<Buffer> {
  const find = async () => (await listCaptured(app.pools.db, app.accountId, { to, limit: 1 }))[0]
  const captured = await until(
    async () => {
      const found = await find()
      return found && id.endsWith(found.message_id.replaceAll('-', '')) && found
    },
    `${id} to be captured`,
    3_000,
  )
  return captured.raw
}

const allowedInParts = ['Content-Type', 'Content-Transfer-Encoding', 'Content-Disposition', 'Content-ID']

async function holdAgainst(body: Body, raw: Buffer): Promise<void> {
  const names = fieldNames(headOf(raw))
  const mayBe = names.indexOf('Content-Transfer-Encoding')
  if (mayBe >= 0) names.splice(mayBe, 1)
  const expected = [...expectedNames(body), ...(body.reply_to === undefined ? [] : ['Reply-To'])]
  assert.deepEqual(names.sort(), expected.sort())
  for (const head of partHeads(raw)) {
    const found = fieldNames(head)
    assert.ok(
      found.every((name) => allowedInParts.includes(name)) && new Set(found).size === found.length,
      `${found}`,
    )
  }
  const parsed = await PostalMime.parse(raw)
  assert.deepEqual([parsed.to?.length, parsed.cc?.length ?? 0, parsed.bcc?.length ?? 0], [1, 0, 0])
}

test('no string of a send adds a header line', async (t) => {
  const counts = { accepted: 0, refused: 0 }
  const property = fc.asyncProperty(changes, async (chosen) => {
    const plain = { from: 'Shop <shop@example.com>', to: 'anna@example.org', subject: 'Hello', text: 'Hi.' }
    const body: Body = Object.assign(plain, ...chosen)
    const reply = await app.call('POST', '/api/v1/transactional/send', { body })
    if (reply.status !== 202) {
      assert.ok(reply.status >= 400 && reply.status < 500, `${reply.status} ${reply.text}`)
      counts.refused++
      return
    }
    counts.accepted++
    await holdAgainst(body, await rawOf(reply.body.id, reply.body.to.toLowerCase()))
  })
  await fc.assert(property, { numRuns: 300, interruptAfterTimeLimit: 90_000, endOnFailure: false })
  t.diagnostic(`${counts.accepted} accepted, ${counts.refused} refused`)
  assert.ok(counts.accepted > 40 && counts.refused > 40, JSON.stringify(counts))
})
