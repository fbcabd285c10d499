import assert from 'node:assert/strict'
import { test } from 'node:test'
import { composeMail, type Mail } from './compose.ts'
import { mailWith } from './fixtures/mail.ts'

const invoice = { filename: 'invoice.pdf', contentType: 'application/pdf', content: Buffer.from('%PDF') }

test('what could add a header, a recipient or a part is not composed', () => {
  const bad = ['a\r\nBcc: x@y.example', 'a\nb', 'a\rb', 'a\0b', 'a\u2028b', 'a\u0085b', 'a\ud800b', 'a\x7fb']
  const places: ((text: string) => Partial<Mail>)[] = [
    (subject) => ({ subject }),
    (name) => ({ from: { email: 'a@b.example', name } }),
    (email) => ({ from: { email } }),
    (name) => ({ to: [{ email: 'a@b.example', name }] }),
    (text) => ({ to: [{ email: `${text}@b.example` }] }),
    (name) => ({ cc: [{ email: 'a@b.example', name }] }),
    (name) => ({ replyTo: [{ email: 'a@b.example', name }] }),
    (value) => ({ headers: [['X-A', value]] }),
    (name) => ({ headers: [[name, 'x']] }),
    (filename) => ({ attachments: [{ ...invoice, filename }] }),
    (contentType) => ({ attachments: [{ ...invoice, contentType: `text/${contentType}` }] }),
    (contentId) => ({ attachments: [{ ...invoice, contentId }] }),
    (text) => ({ messageId: `<${text}@b.example>` }),
  ]
  for (const text of bad)
    for (const place of places)
      assert.throws(
        () => composeMail(mailWith(place(text))),
        /was not composed/,
        `${place} ${JSON.stringify(text)}`,
      )
  const emails = [
    '',
    'a',
    'a@b.example, c',
    'a@b.example>,<c@d.example',
    'a b@c.example',
    'ü@b.example',
    'a@bü.example',
  ]
  for (const email of [...emails, '"a@x.example"@b.example', '"a,b"@c.example', 'a@b@c.example'])
    assert.throws(() => composeMail(mailWith({ to: [{ email }] })), /address is malformed/, email)
  for (const name of ['Bcc', 'to', 'Content-Type', 'MIME-Version', 'X A', 'X:A', '', 'Ü'])
    assert.throws(() => composeMail(mailWith({ headers: [[name, 'x']] })), /was not composed/, name)
  for (const [name, value] of [
    ['List-Unsubscribe', '<https://ü.example>'],
    ['X-A', 'x'.repeat(1000)],
  ] as const)
    assert.throws(() => composeMail(mailWith({ headers: [[name, value]] })))
  const twice: Mail['headers'] = [
    ['List-Unsubscribe', '<https://a>'],
    ['list-unsubscribe', '<https://b>'],
  ]
  assert.throws(() => composeMail(mailWith({ headers: twice })), /occurs twice/)
  assert.throws(() => composeMail(mailWith({ date: new Date(Number.NaN) })), /date/)
})
