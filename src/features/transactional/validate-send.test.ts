import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { startDnsServer } from '../../../test/stand-ins/dns-server.ts'
import { int, row } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

const nameServer = await startDnsServer({
  'good.example MX': [{ exchange: 'mx.good.example', priority: 10 }],
  'good.example TXT': ['v=spf1 -all', 'something else'],
  '_dmarc.good.example TXT': ['v=DMARC1; p=none'],
  'other.example TXT': ['v=spf10 nearly'],
  'twice.example TXT': ['v=spf1 -all', 'v=spf1 ~all'],
  'twice.example A': ['192.0.2.1'],
  '_dmarc.twice.example TXT': ['v=DMARC1; p=wrong'],
  'broken.example MX': 'fails',
  'broken.example TXT': 'fails',
  '_dmarc.broken.example TXT': 'fails',
  // What the other tests write about.
  'example.com MX': 'fails',
  'example.com TXT': 'fails',
  '_dmarc.example.com TXT': 'fails',
  'mailinator.com MX': 'fails',
  'gmaill.com MX': 'fails',
})
const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100', POSTHORN_DNS: nameServer } })

const plain = { from: 'shop@example.com', to: 'anna@example.com', subject: 'Hello', text: 'Hello.' }

async function validate(body: object, key = app.key) {
  const reply = await app.call('POST', '/api/v1/messages/validate', { key, body: { ...plain, ...body } })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

const codes = (items: { code: string }[]) => items.map(({ code }) => code).sort()

describe('a dry run', () => {
  test('of a good message is ok and writes nothing', async () => {
    const { verdict, blocking, warnings, rendered } = await validate({})
    assert.deepEqual([verdict, blocking, warnings], ['ok', [], []])
    assert.deepEqual(rendered, { subject: 'Hello', html: null, text: 'Hello.' })
    const { n } = await app.pools.db.one(
      row<{ n: number }>({ n: int }),
      sql`select (select count(*) from messages)::int + (select count(*) from sending_days)::int as n`,
    )
    assert.equal(n, 0)
  })

  test('reports everything that a send would refuse, at once and with the same codes', async () => {
    const { key } = await app.makeKey({ senderDomains: ['other.example'], dailyCap: 0 })
    const { verdict, blocking } = await validate(
      { to: 'nobody', text: undefined, headers: { Bcc: 'x' }, scheduled_at: '2001-01-01T00:00:00Z' },
      key,
    )
    assert.equal(verdict, 'blocked')
    assert.deepEqual(codes(blocking), [
      'content_missing',
      'daily_cap_reached',
      'invalid_parameter',
      'invalid_parameter',
      'recipient_invalid',
      'sender_domain_not_allowed',
    ])
  })

  test('reads over a link that is no address', async () => {
    const { verdict } = await validate({ html: '<a href="https://[bad/">x</a>' })
    assert.notEqual(verdict, 'blocked')
  })

  test('answers 200 for whatever is of the right types', async () => {
    const found = async (body: object) => {
      const reply = await app.call('POST', '/api/v1/messages/validate', { body })
      assert.equal(reply.status, 200, reply.text)
      assert.equal(reply.body.verdict, 'blocked')
      const items = reply.body.blocking as { code: string; param: string }[]
      return items.map(({ code, param }) => `${param} ${code}`).sort()
    }
    const lacking = ['from missing_parameter', 'html content_missing', 'subject content_missing']
    assert.deepEqual(await found({}), [...lacking, 'to missing_parameter'])
    assert.deepEqual(await found({ ...plain, from: 'x', tag: 'bad tag' }), [
      'from invalid_parameter',
      'tag invalid_parameter',
    ])
    assert.deepEqual(await found({ ...plain, text: '' }), ['html content_missing'])
    const attachments = [{ filename: 'a' }, { filename: 'b', content: '!' }]
    assert.deepEqual(await found({ ...plain, attachments, template_id: 2 ** 60 }), [
      'attachments[0].content missing_parameter',
      'template_id invalid_parameter',
    ])
    for (const body of [{ ...plain, colour: 1 }, { ...plain, to: 5 }, [], { ...plain, html: null }])
      assert.equal((await app.call('POST', '/api/v1/messages/validate', { body })).status, 422)
  })

  test('holds the names of metadata to their length, as a send does', async () => {
    const metadata = { ['n'.repeat(65)]: 'x', ['n'.repeat(64)]: 'x' }
    const { blocking } = await validate({ metadata })
    assert.deepEqual(codes(blocking), ['invalid_parameter'])
    assert.match(blocking[0].message, /at most 64 characters/)
    const body = { ...plain, metadata }
    assert.equal((await app.call('POST', '/api/v1/transactional/send', { body })).status, 422)
  })

  test('takes media types with parameters, and nothing that would end the header', async () => {
    const found = async (content_type: string) =>
      codes(
        (await validate({ attachments: [{ filename: 'x.ics', content: 'eA==', content_type }] })).blocking,
      )
    assert.deepEqual(await found('text/calendar; method=REQUEST; charset="utf-8"'), [])
    for (const bad of ['text', 'text/calendar; method', 'text/calendar; a="x\r\ny"', 'text/plain;;'])
      assert.deepEqual(await found(bad), ['invalid_parameter'], bad)
  })

  test('names the request that frees a suppressed recipient', async () => {
    await app.call('POST', '/api/v1/suppressions', { body: { email: 'gone@example.com' } })
    const { blocking } = await validate({ to: 'gone@example.com' })
    assert.deepEqual(codes(blocking), ['recipient_suppressed'])
    const { method, path } = blocking[0].action
    assert.equal((await app.call(method, path)).status, 200)
    assert.equal((await validate({ to: 'gone@example.com' })).verdict, 'ok')
  })

  test('shows the message rendered, and which variables are missing', async () => {
    const html = '<p>{{ params.name }} {{ params.age }} {{ params.nick | default: "you" }}</p>'
    const { rendered, warnings } = await validate({ html, params: { name: 'Bo' }, text: 'x' })
    assert.equal(rendered.html, '<p>Bo  you</p>')
    assert.deepEqual(codes(warnings), ['missing_variable'])
    assert.match(warnings[0].message, /params\.age/)
  })

  test('warns of what hurts delivery', async () => {
    const found = async (body: object) => codes((await validate(body)).warnings)
    assert.deepEqual(await found({ html: '<p>x</p>', text: undefined }), ['no_text_part'])
    assert.deepEqual(await found({ html: '<a href="https://bit.ly/x">some words to read</a>' }), [
      'link_shortener',
    ])
    assert.deepEqual(await found({ html: '<img src="https://example.com/x.png">' }), ['image_only'])
    assert.deepEqual(await found({ subject: 'x'.repeat(90) }), ['subject_too_long'])
    assert.deepEqual(await found({ text: 'x'.repeat(110_000) }), ['message_clipped'])
    assert.deepEqual(await found({ tag: 'newsletter' }), ['list_unsubscribe_missing'])
    assert.deepEqual(await found({ to: 'postmaster@example.com' }), ['role_address'])
    assert.deepEqual(await found({ to: 'anna@mailinator.com' }), ['disposable_domain'])
    const { warnings } = await validate({ to: 'anna@gmaill.com' })
    assert.deepEqual([warnings[0].code, warnings[0].hint], ['mistyped_domain', 'Did you mean gmail.com?'])
    const attachments = [{ filename: 'run.exe', content: 'eA==' }]
    assert.deepEqual(await found({ attachments }), ['attachment_blocked'])
  })

  test('reads public DNS, and tells a domain without records from one that could not be read', async () => {
    const found = async (domain: string) =>
      codes((await validate({ from: `shop@${domain}`, to: `anna@${domain}` })).warnings)
    assert.deepEqual(await found('good.example'), [])
    assert.deepEqual(await found('news.good.example'), ['domain_not_authenticated', 'recipient_without_mx'])
    assert.deepEqual(await found('other.example'), [
      'dmarc_missing',
      'domain_not_authenticated',
      'recipient_without_mx',
    ])
    assert.deepEqual(await found('twice.example'), [
      'dmarc_missing',
      'domain_not_authenticated',
      'recipient_without_mx',
    ])
    assert.deepEqual(await found('broken.example'), [])
  })
})
