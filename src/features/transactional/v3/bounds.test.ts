// What one call may hold: enough for every honest one, and too little to keep everybody else waiting.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })

const times = <T>(n: number, make: (i: number) => T) => Array.from({ length: n }, (_, i) => make(i))
const people = (n: number, of = 'p') => times(n, (i) => ({ email: `${of}${i}@example.com` }))
const named = (n: number) => people(n).map((one, i) => ({ ...one, name: `Somebody Number ${i}` }))
const headers = (n: number, value = 'x') => Object.fromEntries(times(n, (i) => [`X-H-${i}`, value]))

const plain = { sender: { email: 'shop@example.com' }, subject: 'Hello', textContent: 'Hi', to: people(1) }
const send = (body: object) => app.call('POST', '/v3/smtp/email', { body: { ...plain, ...body } })

const sendOwn = (body: object) =>
  app.call('POST', '/api/v1/transactional/send', {
    body: { from: 'shop@example.com', to: 'a@example.com', subject: 'Hello', text: 'Hi', ...body },
  })

async function refused(body: object, words: RegExp, status = 400): Promise<void> {
  const reply = await send(body)
  const code = status === 413 ? 'payload_too_large' : 'invalid_parameter'
  assert.deepEqual([reply.status, reply.body.code], [status, code], reply.text)
  assert.match(reply.body.message, words)
}

async function accepted(body: object): Promise<void> {
  const reply = await send(body)
  assert.equal(reply.status, 201, reply.text)
}

describe('a send of the provider’s namespace', () => {
  test('takes what stands at its bounds', async () => {
    await accepted({ subject: 's'.repeat(2_000), tags: times(20, (i) => `t${i}`) })
    await accepted({ headers: { ...headers(199), 'X-Mailin-custom': 'c'.repeat(16_000) } })
    await accepted({ to: [{ email: 'a@example.com', name: 'n'.repeat(200) }] })
    await accepted({ tags: [`${'t'.repeat(254)}😀`], headers: { 'X-Mailin-Tag': `${'t'.repeat(254)}😀` } })
    await accepted({ params: Object.fromEntries(times(5_000, (i) => [`p${i}`, i])) })
    const long = `{% comment %}${'x'.repeat(3_000)}{% endcomment %}Hi`
    await accepted({ subject: long, sender: { email: 'shop@example.com', name: long } })
  })

  test('takes a large text that a thousand versions share, which is there once', async () => {
    const versions = times(1_000, (i) => ({ to: [{ email: `v${i}@example.com` }] }))
    await accepted({ textContent: 't'.repeat(140_000), messageVersions: versions })
  })

  test('takes many calls of many versions at once, a few at a time', async () => {
    const messageVersions = times(100, (i) => ({ to: [{ email: `w${i}@example.com` }], params: { n: i } }))
    const body = { textContent: `{{ params.n }}${'t'.repeat(20_000)}`, messageVersions }
    await Promise.all(times(8, () => accepted(body)))
  })

  test('says which field holds too much', async () => {
    await refused({ subject: 's'.repeat(2_001) }, /^subject must have at most 2000 characters$/)
    const filled = { subject: '{{ params.s }}', params: { s: 's'.repeat(2_001) } }
    await refused(filled, /^subject must have at most 2000 characters$/)
    await refused({ tags: times(21, (i) => `t${i}`) }, /^tags must have at most 20 entries$/)
    await refused({ headers: headers(201) }, /^A message may have at most 200 headers/)
    await refused({ headers: headers(80, 'x'.repeat(900)) }, /at most 64000 octets together/)
    await refused({ headers: { 'X-Mailin-custom': 'c'.repeat(16_001) } }, /^X-Mailin-custom .* 16000/)
    const long = { email: 'a@example.com', name: 'n'.repeat(201) }
    await refused({ to: [long] }, /^name must have at most 200 characters in to$/)
    await refused({ sender: long }, /^name must have at most 200 characters in sender$/)
    const name = { name: '{{ params.n }}', email: 'a@example.com' }
    await refused({ sender: name, params: { n: 'n'.repeat(201) } }, /in sender$/)
  })

  test('holds versions to the same', async () => {
    const version = { to: people(1) }
    for (const [one, words] of [
      [{ subject: 's'.repeat(2_001) }, /^subject/],
      [{ headers: headers(201) }, /200 headers/],
      [{ to: [{ email: 'a@example.com', name: 'n'.repeat(201) }] }, /in to$/],
    ] as const)
      await refused({ messageVersions: [version, { ...version, ...one }] }, words)
    const params = Object.fromEntries(times(1_001, (i) => [`p${i}`, i]))
    await accepted({ params, messageVersions: [version, version] })
    await refused(
      { params, messageVersions: [{ ...version, params: { a: 1 } }] },
      /^params must have at most 1000/,
    )
  })

  test('puts the params of the whole together with those of each version', async () => {
    const params = { a: 'A', b: 'B' }
    const messageVersions = [{ to: people(1, 'own'), params: { b: 'C' } }, { to: people(1, 'whole') }]
    const reply = await send({ subject: '{{ params.a }} {{ params.b }}', params, messageVersions })
    assert.equal(reply.status, 201, reply.text)
    const { body } = await app.call('GET', '/api/v1/messages?limit=2')
    const subjects = body.data.map((one: { to: string; subject: string }) => `${one.to} ${one.subject}`)
    assert.deepEqual(subjects.sort(), ['own0@example.com A C', 'whole0@example.com A B'])
  })

  test('counts before it reads, and each address once', async () => {
    const bcc = [...people(90, 'b'), ...people(90, 'b')]
    await accepted({ bcc, messageVersions: times(3, (i) => ({ to: people(1, `v${i}`) })) })
    const most = /^A request must have at most 2000 recipients$/
    await refused({ bcc, messageVersions: times(30, (i) => ({ to: people(1, `v${i}`) })) }, most)
    const unread = times(20_001, () => ({ email: 'no address' }))
    await refused({ to: unread }, most)
    await refused({ bcc: unread, messageVersions: [{ to: people(1) }] }, most)
    await refused({ bcc: people(100, 'b'), messageVersions: [{ to: people(1) }] }, /at most 99 recipients$/)
  })

  test('to 2000 people who see each other is a matter of a moment, and each has the whole of it', async () => {
    const [to, began] = [named(2_000), performance.now()]
    const reply = await send({ to, tags: ['all'], attachment: [{ name: 'a.txt', content: 'YWJj' }] })
    assert.match(reply.body.message, /at most 99 recipients/)
    await accepted({ to, batchId: '11111111-1111-4111-8111-111111111111' })
    assert.ok(performance.now() - began < 10_000)
    const { rows, bodies, shown } = await app.pools.db.one(
      row({ rows: text, bodies: text, shown: text }),
      sql`select count(*)::text as rows, count(distinct b.parts::text)::text as bodies,
                 min(json_array_length(b.parts -> 'to'))::text as shown
            from messages m join message_bodies b on b.message_id = m.id
           where m.account_id = ${app.accountId} and m.batch_id = '11111111-1111-4111-8111-111111111111'`,
    )
    assert.deepEqual([rows, bodies, shown], ['2000', '1', '2000'])
  })

  test('whose copies would be too large together is refused, for its addresses as for its text', async () => {
    const shown = named(2_000).map(({ email, name }) => ({ email, name: name.padEnd(200, 'x') }))
    await refused({ to: shown }, /^The copies for all recipients are larger than 256 MB together\.$/, 413)
    const htmlContent = `{{ params.a }}${'x'.repeat(900_000)}`
    const messageVersions = times(200, (i) => ({ to: people(1, `v${i}`), params: { a: i } }))
    await refused({ htmlContent, messageVersions }, /^The versions are larger than 128 MB together\.$/, 413)
  })
})

test('the own namespace has the same bounds, and its dry run finds them', async () => {
  for (const [body, param] of [
    [{ headers: headers(201) }, 'headers'],
    [{ headers: headers(80, 'x'.repeat(900)) }, 'headers'],
    [{ metadata: Object.fromEntries(times(33, (i) => [`m${i}`, 'x'.repeat(490)])) }, 'metadata'],
    [{ subject: '{{ params.s }}', params: { s: 's'.repeat(2_001) } }, 'subject'],
  ] as const) {
    const reply = await sendOwn(body)
    assert.deepEqual(
      [reply.status, reply.body.error?.code, reply.body.error?.param],
      [422, 'invalid_parameter', param],
      reply.text,
    )
    const asked = {
      body: { from: 'shop@example.com', to: 'a@example.com', subject: 'Hello', text: 'Hi', ...body },
    }
    const { blocking } = (await app.call('POST', '/api/v1/messages/validate', asked)).body
    assert.ok(blocking.some((one: { param?: string }) => one.param === param))
  }
  const metadata = Object.fromEntries(times(32, (i) => [`m${i}`, 'x'.repeat(490)]))
  assert.equal((await sendOwn({ metadata, headers: headers(200) })).status, 202)
})
