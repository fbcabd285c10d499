// A message for many recipients is handed to the database once and copied there.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { nobody } from '../../kernel/ctx.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { newMessageId } from './message-id.ts'
import { type Attachment, type Outgoing, type Parts, queueMessages } from './queue-messages.ts'

const { pools, accountId, makeKey } = await makeApp()
const { db } = pools
const { id: keyId } = await makeKey()
const caller = { ...nobody, accountId, keyId, scopes: null, senderDomains: null }
const from = { email: 'shop@example.com' }

const fileOf = (letter: string): Attachment => ({
  filename: `${letter}.txt`,
  contentType: 'text/plain',
  contentId: null,
  content: Buffer.from(letter),
})
const partsOf = (html: string): Parts => ({ from, to: [{ email: 'a@example.com' }], html, headers: [] })

function outgoing(email: string, more: Partial<Outgoing>): Outgoing {
  return {
    ...{ caller, now: new Date(), source: 'api', stream: 'transactional', from, subject: 'Hello', tags: [] },
    recipient: { email },
    attachments: [],
    track: {},
    suppressed: 'record',
    messageId: newMessageId('example.com').messageId,
    ...more,
  }
}

/** What the statements brought, and what is stored for each recipient: its body and its files. */
async function stored(messages: Outgoing[]) {
  const results = await db.transaction((tx) => queueMessages(tx, messages))
  const ids = results.map((result) => {
    if (result instanceof Refusal) throw result
    return result.id
  })
  const rows = await db.many(
    row({ recipient: text, body: text }),
    sql`select m.recipient,
               concat_ws(' ', b.parts ->> 'html', b.parts -> 'to' -> 0 ->> 'email', convert_from(b.raw, 'utf8'),
                         b.track,
                         (select string_agg(filename || convert_from(content, 'utf8'), ',' order by position)
                            from message_attachments f where f.message_id = m.id and f.account_id = ${accountId}))
               as body
          from messages m join message_bodies b on b.message_id = m.id
         where m.account_id = ${accountId} and m.id = any(${ids}::uuid[])`,
  )
  return new Map(rows.map(({ recipient, body }) => [recipient, body]))
}

test('each recipient has the body and the files of their own message', async () => {
  const [one, two, track] = [partsOf('one'), partsOf('two'), { opens: false }]
  const [files, others] = [[fileOf('x'), fileOf('y')], [fileOf('z')]]
  const found = await stored([
    outgoing('a@example.com', { parts: one, track, attachments: files }),
    outgoing('b@example.com', { parts: one, track, attachments: files }),
    outgoing('c@example.com', { parts: two, track, attachments: files }),
    outgoing('d@example.com', { parts: two, track, attachments: others }),
    outgoing('e@example.com', { parts: two, attachments: others }),
    outgoing('f@example.com', { parts: { ...two } }),
  ])
  const off = '{"opens": false}'
  assert.deepEqual(
    [...found].sort().map(([, body]) => body),
    [
      `one a@example.com ${off} x.txtx,y.txty`,
      `one a@example.com ${off} x.txtx,y.txty`,
      `two a@example.com ${off} x.txtx,y.txty`,
      `two a@example.com ${off} z.txtz`,
      'two a@example.com {} z.txtz',
      'two a@example.com {}',
    ],
  )
})

test('of a composed one, each keeps the letters of their own address', async () => {
  const [raw, shared] = [Buffer.from('Hi.'), { track: {}, attachments: [] }]
  const withParts = (email: string) => ({
    raw,
    ...shared,
    parts: { from, to: [{ email }], headers: [] as [] },
  })
  const found = await stored([
    outgoing('a@example.com', { raw, ...shared }),
    outgoing('b@example.com', withParts('B@example.com')),
    outgoing('c@example.com', withParts('C@example.com')),
    outgoing('d@example.com', { raw, ...shared }),
  ])
  assert.deepEqual(
    [...found].sort().map(([, body]) => body),
    ['Hi. {}', 'B@example.com Hi. {}', 'C@example.com Hi. {}', 'Hi. {}'],
  )
})

test('bodies of many megabytes go in several statements, and all arrive', async () => {
  const letters = ['a', 'b', 'c', 'd', 'e']
  const found = await stored(
    letters.map((letter) => outgoing(`${letter}@example.com`, { parts: partsOf(letter.repeat(3_000_000)) })),
  )
  assert.equal(found.size, letters.length)
  for (const letter of letters) {
    const body = found.get(`${letter}@example.com`) ?? ''
    assert.equal(body.slice(0, 3_000_000), letter.repeat(3_000_000))
  }
})

test('what cannot be written is refused for all its recipients, and for nobody else', async () => {
  const bad = partsOf('\0')
  const results = await db.transaction((tx) =>
    queueMessages(tx, [
      outgoing('a@example.com', { parts: bad }),
      outgoing('b@example.com', { parts: bad }),
      outgoing('c@example.com', { parts: partsOf('good') }),
    ]),
  )
  assert.deepEqual(
    results.map((result) => (result instanceof Refusal ? result.code : result.status)),
    ['invalid_parameter', 'invalid_parameter', 'queued'],
  )
})
