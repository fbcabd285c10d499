import assert from 'node:assert/strict'
import { isAscii } from 'node:buffer'
import { test } from 'node:test'
import fc from 'fast-check'
import PostalMime from 'postal-mime'
import { quickest } from '../../../../test/quickest.ts'
import { toSevenBit } from './seven-bit.ts'

const mail = (...lines: string[]) => Buffer.from(lines.join('\r\n'))
const latin = (...lines: string[]) => Buffer.from(lines.join('\r\n'), 'latin1')
const eightBit = 'Content-Transfer-Encoding: 8bit'

const parts = mail(
  'Subject: x',
  'Content-Type: multipart/mixed; boundary=b',
  eightBit,
  '',
  '--b',
  'Content-Type: text/plain; charset=utf-8',
  eightBit,
  '',
  'Grüße, 1+1=2  ',
  '',
  'zum Schluß',
  '--b',
  'Content-Type: text/html; charset=utf-8',
  '',
  '<p>plain</p>',
  '--b',
  '',
  'ohne Köpfe',
  '',
  'in zwei Absätzen',
  '--b',
  'Content-Type: application/json; name=a.json',
  'Content-Disposition: attachment; filename=a.json',
  'Content-Transfer-Encoding: binary',
  '',
  '{"a":"é"}',
  '--b',
  'Content-Type: message/rfc822',
  eightBit,
  '',
  'Subject: inner',
  'Content-Type: text/plain; charset=utf-8',
  eightBit,
  '',
  'weitergeleitet: ü',
  '--b--',
  '',
)

test('every part says the same in seven bits', async () => {
  const made = await toSevenBit(parts)
  assert.ok(isAscii(made))
  assert.doesNotMatch(made.toString(), /8bit|binary/)
  const [before, after] = [await PostalMime.parse(parts), await PostalMime.parse(made)]
  // How the parser ends lines hangs on the encoding.
  const lines = (text = '') => text.split(/[\r\n]+/)
  assert.deepEqual(lines(after.text), lines(before.text))
  assert.match(after.text ?? '', /^Grüße, 1\+1=2 {2}\r?\n\r?\nzum Schluß/)
  const contents = (given: typeof before) =>
    given.attachments.map(({ content }) => Buffer.from(content as ArrayBuffer).toString())
  assert.ok(contents(after).includes('{"a":"é"}'))
  assert.match(
    made.toString(),
    /--b\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nohne K=C3=B6pfe\r\n\r\nin zwei Abs=C3=A4tzen\r\n/,
  )
})

test('octets of any character set come back', async () => {
  const head = ['Content-Type: text/plain; charset=iso-8859-1', eightBit, '']
  const made = await toSevenBit(latin(...head, 'caf\xe9', ''))
  assert.ok(isAscii(made))
  assert.equal((await PostalMime.parse(made)).text, 'café\r\n')
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1 }), async (octets) => {
      const raw = Buffer.concat([latin('Content-Type: application/x-any', '', ''), octets])
      const encoded = await toSevenBit(raw)
      assert.ok(isAscii(encoded))
      const [, body = ''] = encoded.toString('latin1').split('base64\r\n\r\n')
      if (!isAscii(octets)) assert.deepEqual(Buffer.from(body, 'base64'), Buffer.from(octets))
    }),
  )
})

const kept = {
  'seven bits': latin('Content-Transfer-Encoding: 8bit', '', 'plain'),
  'signed parts': mail(
    'Content-Type: multipart/signed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain; charset=utf-8',
    eightBit,
    '',
    'ü',
    '--b--',
  ),
  'signed by its author': mail('DKIM-Signature: v=1', 'Content-Type: text/plain', eightBit, '', 'ü'),
  'a header field': mail('Subject: ü', '', 'plain'),
  'octets that its encoding does not have': latin('Content-Transfer-Encoding: base64', '', '\xff'),
}

for (const [name, raw] of Object.entries(kept))
  test(`stays byte for byte: ${name}`, async () => assert.deepEqual(await toSevenBit(raw), raw))

test('an encoding behind many folded blanks is read in no time', async () => {
  const blanks = '\r\n '.repeat(100_000)
  const raw = mail(`Content-Transfer-Encoding:${blanks}8bit${blanks}x`, 'Content-Type: text/plain', '', 'ü')
  const took = await quickest(1_000, async () => assert.deepEqual(await toSevenBit(raw), raw))
  assert.ok(took < 1_000, `${took} ms`)
})
