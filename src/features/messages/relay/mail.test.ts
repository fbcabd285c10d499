import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { idempotencyHeaders, openMail, valueIn } from './mail.ts'
import { readMail, readOtherSenders } from './read-mail.ts'
import { rewriteMail } from './rewrite-mail.ts'

const crlf = (...lines: string[]) => lines.join('\r\n')
const open = (...lines: string[]) => openMail(Buffer.from(crlf(...lines), 'latin1'))
const read = (...lines: string[]) => readMail(open(...lines, '', 'text'))
const from = 'From: a@example.com'

describe('the header is read', () => {
  const senders: Record<string, object> = {
    'a@example.com': { email: 'a@example.com' },
    '<a@example.com>': { email: 'a@example.com' },
    'Shop <A@Example.COM>': { email: 'A@example.com', name: 'Shop' },
    '"Shop, \\"the\\" one" <a@example.com>': { email: 'a@example.com', name: 'Shop, "the" one' },
    '=?utf-8?B?R3LDvMOfZQ==?= <a@example.com>': { email: 'a@example.com', name: 'Grüße' },
    '=?utf-8?Q?a=00=0D=0Ab?= <a@example.com>': { email: 'a@example.com', name: 'a b' },
    'a@example.com (Old Style)': { email: 'a@example.com', name: 'Old Style' },
    'x@evil.example <a@example.com>': { email: 'a@example.com', name: 'x@evil.example' },
  }
  for (const [given, address] of Object.entries(senders)) {
    test(`From: ${given}`, () => assert.deepEqual(read(`From: ${given}`).from, address))
  }

  const bad = [
    'a@b',
    '<>',
    'Group: a@example.com;',
    'a b@example.com',
    '<a@example.com> x',
    '"a@example.com"',
  ]
  for (const given of [
    ...bad,
    '=?utf-8?Q?a=40example.com?=',
    '<@r.example:a@example.com>',
    'a@example.com,',
  ]) {
    test(`not From: ${given}`, () => assert.throws(() => read(`From: ${given}`), /From header must be/))
  }

  test('with encoded and folded text', () => {
    const { subject } = read(from, 'Subject: =?utf-8?Q?Gr=C3=BC?=', ' =?utf-8?Q?=C3=9Fe?= an', '\talle')
    assert.equal(subject, 'Grüße an alle')
    assert.equal(read(from).subject, '')
    assert.equal(read(from, `Subject: ${'=?utf-8?B?8J+YgA==?= '.repeat(1_500)}`).subject.isWellFormed(), true)
  })

  test('with folds anywhere, by blanks or tabs', () => {
    const folded: [string[], string][] = [
      [['From: "Shop', '\tand more"', '\t<a@example.com>'], 'Shop and more'],
      [['From: Shop', '\tand', ' more', '\t<a@example.com>'], 'Shop and more'],
      [['From:', '\tShop and more <a@example.com>'], 'Shop and more'],
      [['From: Shop\tand more <a@example.com>'], 'Shop and more'],
      [['From: a@example.com', '\t(Shop and more)'], 'Shop and more'],
      [['From: =?utf-8?Q?Shop_?=', '\t=?utf-8?Q?and_more?=', '\t<a@example.com>'], 'Shop and more'],
    ]
    for (const [lines, name] of folded)
      assert.deepEqual(read(...lines).from, { email: 'a@example.com', name })
    const sender = open(from, 'Sender: The', '\tOffice', '\t<b@example.com>', '', 'text')
    assert.deepEqual(readOtherSenders(sender), ['b@example.com'])
    const { subject, tag, metadata, messageId } = read(
      ...[from, 'To: Anna', '\t<anna@example.com>,', '\tBo <bo@example.com>', 'Cc: Cy', '\t<cy@example.com>'],
      ...['Reply-To: Desk', '\t<desk@example.com>', 'Subject: Hello', '\tthere', 'X-Mail-Tag:', '\twelcome'],
      ...['X-Mail-Metadata: {"order":', '\t"7"}', 'Message-ID:', '\t<x@y>'],
    )
    assert.deepEqual([subject, tag, metadata, messageId], ['Hello there', 'welcome', { order: '7' }, '<x@y>'])
    const keyed = open(from, 'Idempotency-Key:', '\tone-key', '', 'text')
    assert.equal(valueIn(keyed, ...idempotencyHeaders), 'one-key')
  })

  test('with a message id that can be sent on, or none', () => {
    assert.equal(read(from, 'Message-ID:', ' <x@y>').messageId, '<x@y>')
    for (const bad of ['', 'x', '<a b@c>', '<x@y> <z@y>']) {
      assert.equal(read(from, `Message-ID: ${bad}`).messageId, undefined)
    }
  })

  test('up to the first empty line and no further', () => {
    assert.throws(() => readMail(open('', from, '', 'text')), /not a header field/)
    assert.throws(() => readMail(open('Subject: x', '', from, '', 'text')), /no From/)
    assert.equal(readMail(open(from)).from.email, 'a@example.com')
  })

  test('unless it is endless', () => {
    assert.throws(() => read(from, ...Array(40_000).fill('X-A: bcdefgh')), /too long/)
    assert.throws(() => readMail(openMail(Buffer.alloc(5_000_000, 'X\r\n'))), /too long/)
  })
})

describe('the message is sent on', () => {
  const hop = {
    by: 'relay.test',
    requestId: 'req_1',
    now: new Date('2026-11-15T12:00:00Z'),
    messageId: '<new@example.com>',
  }
  const rewritten = (...lines: string[]) =>
    rewriteMail(open(...lines), hop)
      .toString('latin1')
      .split('\r\n')
      .slice(3)

  test('with a bad message id and an empty date replaced', () => {
    assert.deepEqual(rewritten(from, 'Message-ID: bad', 'Date:', 'MIME-Version: 1.0', '', 'x'), [
      from,
      'MIME-Version: 1.0',
      'Date: Sun, 15 Nov 2026 12:00:00 +0000',
      'Message-ID: <new@example.com>',
      '',
      'x',
    ])
  })

  test('with a date that every reader can read', () => {
    const dates = (date: string) =>
      rewritten(from, date, '', 'x').filter((line) => line.startsWith('Date:') || line.startsWith(' '))
    const kept = ['Date: 1 Jan 2026 1:02 +0100', 'Date: Thu,\r\n 13 Feb 2025 23 : 32 -0330 (Newfoundland)']
    for (const date of kept) assert.deepEqual(dates(date), date.split('\r\n'))
    const now = ['Date: Sun, 15 Nov 2026 12:00:00 +0000']
    for (const date of ['Date: never', 'Date: 2026-11-15T12:00:00Z', 'Date: Nov 15 2026 12:00'])
      assert.deepEqual(dates(date), now)
  })

  test('with every octet of its body', () => {
    const body = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
    const mail = openMail(Buffer.concat([Buffer.from(`${from}\r\n\r\n`), body]))
    assert.deepEqual(rewriteMail(mail, hop).subarray(-256), body)
  })

  test('also when it is a header alone', () => {
    const date = 'Date: Fri, 21 Nov 97 09:55:06 GMT'
    assert.deepEqual(rewritten(from, date, 'Message-ID: <new@example.com>').slice(0, 2), [from, date])
    assert.deepEqual(rewritten(from, date, 'Message-ID: <new@example.com>').slice(-2), ['', ''])
  })
})

describe('two compositions of one mail', () => {
  const composed = (id: string, text = 'text') =>
    open(
      `Message-ID: <${id}@example.com>`,
      `Date: ${id}`,
      from,
      `Content-Type: multipart/mixed; boundary="--part-${id}"`,
      '',
      `----part-${id}`,
      '',
      text,
      `----part-${id}--`,
    )

  test('are the same to the comparison, another text is not', () => {
    assert.equal(JSON.stringify(composed('aaaaaaaa')), JSON.stringify(composed('bbbbbbbb')))
    assert.notEqual(JSON.stringify(composed('aaaaaaaa')), JSON.stringify(composed('aaaaaaaa', 'other')))
  })
})
