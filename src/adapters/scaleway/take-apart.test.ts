import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Handover } from '../../kernel/ports.ts'
import { type ApiEmail, takeApart, withRef } from './take-apart.ts'

const handover = (raw: string | Buffer, recipient = 'to@recipient.example'): Handover => ({
  id: 'msg_1',
  accountId: 'acc_1',
  envelopeFrom: 'bounce@sender.example',
  recipient,
  raw: Buffer.from(raw),
  stream: 'transactional',
})

const head = [
  'From: =?utf-8?Q?Caf=C3=A9?= <me@sender.example>',
  'To: "Doe, Jane" <To@recipient.example>',
  'Subject: =?utf-8?Q?Votre_commande_est_exp=C3=A9di=C3=A9e?=',
  'Date: Sun, 01 Mar 2026 10:00:00 +0000',
  'Message-ID: <1@sender.example>',
  'Reply-To: help@sender.example,',
  ' desk@sender.example',
  'X-Entity: =?utf-8?Q?=C3=A9?=',
  'MIME-Version: 1.0',
]
const message = (headers: string[], ...body: string[]) => [...headers, ...body].join('\r\n')
const part = (type: string, more: string[], content: string) =>
  message(['--b', `Content-Type: ${type}`, ...more], '', content)
const mixed = (...parts: string[]) =>
  message(head, 'Content-Type: multipart/mixed; boundary=b', '', ...parts, '--b--', '')
const text = part('text/plain; charset=utf-8', [], 'Bonjour à tous')
const file = (name: string) =>
  part(
    'application/pdf',
    [`Content-Disposition: attachment; filename=${name}`, 'Content-Transfer-Encoding: base64'],
    'AAEC',
  )

const taken = async (raw: string | Buffer): Promise<ApiEmail> => {
  const result = await takeApart(handover(raw), 'project')
  assert.ok('body' in result, JSON.stringify(result))
  return JSON.parse(result.body)
}
const why = async (raw: string | Buffer, recipient?: string): Promise<string> => {
  const result = await takeApart(handover(raw, recipient), 'project')
  assert.ok('why' in result, 'it was taken')
  return result.why
}

test('a usual message is taken apart without loss', async () => {
  const alternative = message(
    ['--b', 'Content-Type: multipart/alternative; boundary=c', ''],
    '--c\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nBonjour à tous',
    '--c\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable',
    '\r\n<p>Bonjour =C3=A0 tous</p>',
    '--c--',
  )
  const email = await taken(mixed(alternative, file('a.pdf')))
  assert.deepEqual(email.from, { email: 'me@sender.example', name: 'Café' })
  assert.deepEqual(email.to, [{ email: 'To@recipient.example', name: 'Doe, Jane' }])
  assert.equal(email.subject, 'Votre commande est expédiée')
  assert.equal(email.text?.trim(), 'Bonjour à tous')
  assert.equal(email.html?.trim(), '<p>Bonjour à tous</p>')
  assert.equal(email.project_id, 'project')
  assert.deepEqual(email.attachments, [{ name: 'a.pdf', type: 'application/pdf', content: 'AAEC' }])
  assert.deepEqual(email.additional_headers, [
    { key: 'Reply-To', value: 'help@sender.example, desk@sender.example' },
    { key: 'X-Entity', value: '=?utf-8?Q?=C3=A9?=' },
    { key: 'X-Posthorn-Message', value: 'msg_1' },
  ])
})

test('a message of one text has no other', async () => {
  const email = await taken(message(head, 'Content-Type: text/html; charset=utf-8', '', '<p>Bonjour</p>'))
  assert.equal(email.text, undefined)
  assert.match(email.html ?? '', /Bonjour/)
})

test('what the interface cannot show is left to SMTP', async () => {
  const plain = (headers: string[]) =>
    message(headers, 'Content-Type: text/plain; charset=utf-8', '', 'Bonjour à tous')
  const without = (name: string) => head.filter((line) => !line.startsWith(name))
  assert.match(await why(plain([...head, 'Cc: other@recipient.example'])), /several recipients/)
  assert.match(
    await why(plain([...without('To:'), 'To: to@recipient.example, x@y.example'])),
    /several recipients/,
  )
  assert.match(await why(plain(head), 'hidden@recipient.example'), /another recipient/)
  assert.match(await why(plain(without('To:'))), /another recipient/)
  assert.match(await why(plain([...without('From:'), 'From: a@sender.example, b@sender.example'])), /sender/)
  assert.match(await why(plain([...head, 'Sender: other@sender.example'])), /sender/)
  assert.match(await why(plain([...without('Subject:'), 'Subject: Short'])), /subject/)
  assert.match(await why(plain([...head, 'X-Odd: é'])), /X-Odd/)
  assert.match(await why(message(head, 'Content-Type: text/plain', '', 'short')), /less than 10/)
  assert.match(await why(mixed(file('a.pdf'))), /no text/)
})

test('parts that are not plain attachments are left to SMTP', async () => {
  const inline = part('image/png', ['Content-ID: <logo>', 'Content-Disposition: inline; filename=l.png'], 'x')
  const shown = part(
    'image/png',
    ['Content-ID: <logo>', 'Content-Disposition: attachment; filename=l.png'],
    'x',
  )
  const html = part('text/html; charset=utf-8', [], '<p>Bonjour <img src="cid:logo"></p>')
  const disposition = 'Content-Disposition: attachment; filename=i.ics'
  assert.match(await why(mixed(text, inline)), /not plain attachments/)
  assert.match(await why(mixed(html, shown)), /not plain attachments/)
  assert.match(await why(mixed(text, part('text/calendar; method=REQUEST', [disposition], 'x'))), /not plain/)
  assert.match(await why(mixed(text, part('message/rfc822', [], 'Subject: x\r\n\r\ninner'))), /not plain/)
  assert.match(await why(mixed(text, part('application/pdf', [], 'x'))), /not plain/)
  assert.match(await why(mixed(text, text)), /several texts/)
  assert.match(
    await why(mixed(text, ...Array.from({ length: 11 }, (_, i) => file(`${i}.pdf`)))),
    /attachments/,
  )
  const signed = message(head, 'Content-Type: multipart/signed; boundary=b', '', text, file('s.p7s'), '--b--')
  assert.match(await why(signed), /meaning/)
  assert.equal(
    (await taken(mixed(text, shown))).attachments.length,
    1,
    'one that no text shows is a plain file',
  )
})

test('messages over the limit of the interface are left to SMTP', async () => {
  assert.match(await why(mixed(text, part('application/pdf', [], 'x'.repeat(2_000_000)))), /2 MB/)
  const content = Buffer.alloc(1_480_000, 'x').toString('base64').replace(/.{76}/g, '$&\r\n')
  const large = part(
    'application/pdf',
    ['Content-Disposition: attachment; filename=a.pdf', 'Content-Transfer-Encoding: base64'],
    content,
  )
  assert.match(await why(mixed(text, large)), /2 MB/)
})

test('an unreadable message is left to SMTP', async () => {
  const nested = Array.from(
    { length: 300 },
    (_, i) => `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n--b${i}\r\n`,
  )
  assert.match(await why(message(head, nested.join(''))), /cannot be read|no text/)
})

test('the reference goes in front of the message, unless it would break it', () => {
  const raw = message(head, '', 'Bonjour')
  assert.equal(withRef(handover(raw)).toString(), `X-Posthorn-Message: msg_1\r\n${raw}`)
  assert.equal(withRef({ ...handover(raw), id: 'a\r\nBcc: x@y.example' }).toString(), raw)
})
