import assert from 'node:assert/strict'
import { test } from 'node:test'
import PostalMime, { type Address, type Email } from 'postal-mime'
import { composeMail, type Mail } from './compose.ts'
import { assertWire, field, headerNames, mailWith } from './fixtures/mail.ts'

const parse = (mail: Mail): Promise<Email> => PostalMime.parse(composeMail(mail))
const pairs = (list: Address[] | undefined) => list?.map(({ name, address }) => [name, address])
const contents = ({ attachments }: Email) =>
  attachments.map(({ content }) => Buffer.from(content as ArrayBuffer).toString('latin1'))

// The parser keeps CRLF of base64, makes LF of the rest and ends each text with a line end of its own.
const lines = (text: string | undefined) => text?.replaceAll('\r\n', '\n').replace(/\n$/, '')

const png = Buffer.from(Array.from({ length: 1000 }, (_, i) => (i * 7) % 256))
const logo = {
  filename: 'logo.png',
  contentType: 'image/png',
  content: png,
  contentId: 'logo@sender.example',
}
const invoice = { filename: 'invoice.pdf', contentType: 'application/pdf', content: Buffer.from('%PDF') }
const html = '<p>Hello Bob</p><img src="cid:logo@sender.example">'

test('a short text goes as it is', () => {
  const raw = composeMail(mailWith()).toString('latin1')
  assert.equal(
    raw,
    [
      'From: Ana <ana@sender.example>',
      'To: bob@recipient.example',
      'Subject: Hello',
      'Date: Thu, 05 Mar 2026 07:08:09 +0000',
      'Message-ID: <0192f0a1@sender.example>',
      'MIME-Version: 1.0',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: 7bit',
      '',
      'Hello Bob',
      '',
    ].join('\r\n'),
  )
})

test('every field comes back', async () => {
  const mail = mailWith({
    from: { email: 'ana@sender.example', name: 'Ana, "the" Señora \\' },
    to: [{ email: 'bob@recipient.example', name: 'Bob Builder' }, { email: 'c@recipient.example' }],
    cc: [{ email: 'd@recipient.example', name: 'Dörte' }],
    replyTo: [{ email: 'help@sender.example', name: 'Help (desk)' }],
    subject: 'Grüße 🎺 aus Köln',
    html: '<p>Grüße</p>',
    text: 'Grüße\n',
    headers: [['X-Order', '42']],
  })
  const email = await parse(mail)
  assert.deepEqual([email.from?.name, email.from?.address], ['Ana, "the" Señora \\', 'ana@sender.example'])
  assert.deepEqual(pairs(email.to), [
    ['Bob Builder', 'bob@recipient.example'],
    ['', 'c@recipient.example'],
  ])
  assert.deepEqual(pairs(email.cc), [['Dörte', 'd@recipient.example']])
  assert.deepEqual(pairs(email.replyTo), [['Help (desk)', 'help@sender.example']])
  assert.equal(email.subject, mail.subject)
  assert.equal(email.messageId, mail.messageId)
  assert.equal(email.date, '2026-03-05T07:08:09.000Z')
  assert.equal(lines(email.html), '<p>Grüße</p>')
  assert.equal(lines(email.text), 'Grüße')
  assert.equal(email.headers.find(({ key }) => key === 'x-order')?.value, '42')
})

const contentType = (mail: Mail) => field(composeMail(mail), 'Content-Type')?.split(';')[0]

test('the parts nest only as far as needed', async () => {
  assert.equal(contentType(mailWith()), 'text/plain')
  assert.equal(contentType(mailWith({ text: undefined, html })), 'text/html')
  assert.equal(contentType(mailWith({ html })), 'multipart/alternative')
  assert.equal(contentType(mailWith({ attachments: [invoice] })), 'multipart/mixed')
  assert.equal(contentType(mailWith({ text: undefined, html, attachments: [logo] })), 'multipart/related')
  assert.equal(contentType(mailWith({ html, attachments: [logo] })), 'multipart/alternative')
})

test('text, HTML, an inline image and an attachment, all nested', async () => {
  const raw = composeMail(mailWith({ html, attachments: [invoice, logo] }))
  assertWire(raw, 76)
  const kinds = [...raw.toString('latin1').matchAll(/^Content-Type: ([\w/]+)/gm)].map(([, kind]) => kind)
  assert.deepEqual(kinds, [
    'multipart/mixed',
    'multipart/alternative',
    'text/plain',
    'multipart/related',
    'text/html',
    'image/png',
    'application/pdf',
  ])
  const email = await PostalMime.parse(raw)
  assert.equal(email.text?.trim(), 'Hello Bob')
  assert.equal(email.html?.trim(), html)
  assert.deepEqual(
    email.attachments.map(({ filename, mimeType, disposition, contentId }) => [
      filename,
      mimeType,
      disposition,
      contentId,
    ]),
    [
      ['logo.png', 'image/png', 'inline', '<logo@sender.example>'],
      ['invoice.pdf', 'application/pdf', 'attachment', undefined],
    ],
  )
  assert.deepEqual(contents(email), [png.toString('latin1'), '%PDF'])
})

test('an image with a content id but without HTML is an attachment', async () => {
  const email = await parse(mailWith({ attachments: [logo] }))
  assert.deepEqual(
    email.attachments.map(({ disposition }) => disposition),
    ['attachment'],
  )
})

test('empty parts', async () => {
  for (const changes of [{ text: '' }, { text: undefined }, { text: undefined, html: '' }]) {
    const raw = composeMail(mailWith({ ...changes, subject: '' }))
    assertWire(raw)
    const email = await PostalMime.parse(raw)
    assert.equal(`${email.text ?? ''}${email.html ?? ''}`.trim(), '')
  }
  assert.equal(contentType(mailWith({ text: '', html })), 'text/html')
  assert.equal(contentType(mailWith({ html: '' })), 'text/plain')
  const empty = { filename: 'empty.txt', contentType: 'text/plain', content: Buffer.alloc(0) }
  assert.deepEqual(contents(await parse(mailWith({ attachments: [empty] }))), [''])
})

test('one line of 500 kB is broken and comes back whole', async () => {
  const long = `<p>${'né en été, '.repeat(45_000)}</p>`
  const raw = composeMail(mailWith({ html: long }))
  assertWire(raw, 76)
  assert.equal((await PostalMime.parse(raw)).html, long)
})

test('text outside Latin goes as base64, mostly ASCII text as quoted-printable', async () => {
  const encoding = (text: string) => field(composeMail(mailWith({ text })), 'Content-Transfer-Encoding')
  assert.equal(encoding('Привет, мир! '.repeat(100)), 'base64')
  assert.equal(encoding('Un café, s’il vous plaît, et deux croissants.'), 'quoted-printable')
  assert.equal(encoding('x'.repeat(77)), 'quoted-printable')
  assert.equal(encoding('ends in a space '), 'quoted-printable')
  assert.equal(encoding('From here'), 'quoted-printable')
  for (const text of [
    'Привет\n'.repeat(50),
    'a \n\tb\t\n=\n==\n.\n..\nFrom x\n日本 ',
    '🎺'.repeat(40),
    '\r\n\n x',
  ])
    assert.equal(
      lines((await parse(mailWith({ text, html: '<p>' }))).text),
      lines(text),
      JSON.stringify(text),
    )
})

test('a body cannot end its part with the boundary', async () => {
  const first = composeMail(mailWith({ html: 'x' })).toString('latin1')
  const boundary = /boundary="([^"]+)"/.exec(first)?.[1]
  const text = `--${boundary}\nContent-Type: text/html\n\nforged\n--${boundary}--`
  const email = await parse(mailWith({ html: 'x', text }))
  assert.equal(lines(email.text), text)
  assert.equal(lines(email.html), 'x')
})

test('content types keep their parameters; a composite type cannot bring parts of its own', () => {
  const typed = (contentType: string, filename = '') =>
    composeMail(mailWith({ attachments: [{ filename, contentType, content: Buffer.from('x') }] })).toString(
      'latin1',
    )
  assert.match(
    typed('text/calendar; charset=utf-8; method="RE;Q"'),
    /text\/calendar; charset=utf-8; method="RE;Q"\r\n/,
  )
  assert.match(typed('text/plain;name=a.txt', 'b.txt'), /text\/plain; name=a\.txt\r\n/)
  assert.match(typed('message/rfc822', 'old.eml'), /Content-Type: application\/octet-stream\r\n/)
})

test('a resend is the same to the octet, another message has other boundaries', () => {
  const mail = mailWith({ html, attachments: [invoice, logo] })
  assert.deepEqual(composeMail(mail), composeMail(structuredCloneOf(mail)))
  const other = composeMail({ ...mail, messageId: '<other@sender.example>' }).toString('latin1')
  const boundary = /boundary="([^"]+)"/.exec(composeMail(mail).toString('latin1'))?.[1] ?? ''
  assert.ok(!other.includes(boundary))
})

const structuredCloneOf = (mail: Mail): Mail => ({
  ...mail,
  attachments: mail.attachments.map((each) => ({ ...each })),
})

test('without recipients in the header there is no To', () => {
  assert.ok(!headerNames(composeMail(mailWith({ to: [], cc: [] }))).some((name) => /^(to|cc)$/i.test(name)))
})
