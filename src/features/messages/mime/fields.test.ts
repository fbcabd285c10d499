import assert from 'node:assert/strict'
import { test } from 'node:test'
import PostalMime from 'postal-mime'
import { composeMail } from './compose.ts'
import { assertWire, field, headLines, mailWith } from './fixtures/mail.ts'

const invoice = { filename: 'invoice.pdf', contentType: 'application/pdf', content: Buffer.from('%PDF') }

test('subjects of every length come back in words of at most 75 characters', async () => {
  const patterns = [
    'ü',
    '🎺',
    'a🎺',
    'plain words ',
    '日本語のメール',
    'x'.repeat(100),
    'á b  c ',
    '=?',
    '👩‍👩‍👧 ',
  ]
  for (const pattern of patterns)
    for (const length of [1, 30, 50, 61, 62, 63, 70, 76, 2000]) {
      const subject = pattern.repeat(Math.ceil(length / pattern.length))
      const raw = composeMail(mailWith({ subject }))
      assert.ok(headLines(raw).every((line) => line.length <= 76))
      for (const [word] of raw.toString('latin1').matchAll(/=\?UTF-8\?\S*/g))
        assert.ok(word.length <= 75, word)
      assert.equal((await PostalMime.parse(raw)).subject, subject)
    }
})

test('each encoded-word is whole by itself', () => {
  const raw = composeMail(
    mailWith({ subject: 'a🎺b日'.repeat(60), from: { email: 'a@b.example', name: '🎺'.repeat(90) } }),
  )
  const words = [...raw.toString('latin1').matchAll(/=\?UTF-8\?([BQ])\?([^?]*)\?=/g)]
  assert.ok(words.length > 10)
  for (const [, kind, inner = ''] of words) {
    const bytes =
      kind === 'B'
        ? Buffer.from(inner, 'base64')
        : Buffer.from(
            inner
              .replaceAll('_', ' ')
              .replace(/=(..)/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16))),
            'latin1',
          )
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  }
})

test('filenames come back, and ASCII readers get a name too', async () => {
  const names = [
    'plain.pdf',
    'with "quotes" and \\.txt',
    'Überweisung für Jürgen.pdf',
    '日本語.docx',
    `${'ü'.repeat(296)}.pdf`,
    `${'x'.repeat(296)}.pdf`,
    "100%'; filename=evil.exe",
    '🎺.mp3',
    'tab\there.txt',
  ]
  const attachments = names.map((filename) => ({ ...invoice, filename }))
  const raw = composeMail(mailWith({ attachments }))
  assertWire(raw, 76)
  const email = await PostalMime.parse(raw)
  assert.deepEqual(
    email.attachments.map(({ filename }) => filename),
    names,
  )
  assert.match(raw.toString('latin1'), /name="_berweisung f_r J_rgen\.pdf"/)
})

test('List-Unsubscribe stays on one line, other headers fold', async () => {
  const address = `<https://sender.example/u/${'t'.repeat(200)}>, <mailto:u@sender.example?subject=leave>`
  const references = Array.from({ length: 40 }, (_, i) => `<${i}.${'r'.repeat(30)}@sender.example>`).join(' ')
  const raw = composeMail(
    mailWith({
      headers: [
        ['List-Unsubscribe', address],
        ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
        ['References', references],
        ['X-Note', 'größer'],
        [`X-${'n'.repeat(124)}`, 'größer'.repeat(20)],
        ['X-Empty', ''],
      ],
    }),
  )
  assert.ok(headLines(raw).includes(`List-Unsubscribe: ${address}`))
  assert.equal(field(raw, 'References'), references)
  assert.equal(field(raw, 'X-Empty'), '')
  assert.equal((await PostalMime.parse(raw)).references, references)
  assert.ok(headLines(raw).every((line) => line.length <= 76 || /^(List|X-nn)/.test(line)))
})
