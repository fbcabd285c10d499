import assert from 'node:assert/strict'
import { test } from 'node:test'
import PostalMime from 'postal-mime'
import { quickest } from '../../../../test/quickest.ts'
import { composeMail } from './compose.ts'
import { changeHtmlParts } from './html-parts.ts'

const mail = (...lines: string[]) => Buffer.from(lines.join('\r\n'), 'latin1')
const mark = async (html: string) => html.replace('</body>', '<img src="p"></body>')
const marked = async (raw: Buffer) => (await changeHtmlParts(raw, mark)).toString('latin1')
const parsed = async (raw: Buffer) => PostalMime.parse(await changeHtmlParts(raw, mark))

const composed = (html: string) =>
  composeMail({
    from: { email: 'a@example.com' },
    to: [{ email: 'b@example.org' }],
    subject: 'x',
    text: 'plain',
    html,
    headers: [],
    attachments: [
      { filename: 'page.html', contentType: 'text/html', content: Buffer.from('<body>kept</body>') },
      { filename: 'dot.png', contentType: 'image/png', content: Buffer.from([0, 1, 255]), contentId: 'dot' },
    ],
    messageId: '<1@example.com>',
    date: new Date(0),
  })

const bodies = {
  'seven bits': '<body>short</body>',
  'quoted-printable': `<body>${'long line of text with an é '.repeat(40)}</body>`,
  base64: `<body>${'日本語のとても長い文章です'.repeat(40)}</body>`,
}

for (const [name, html] of Object.entries(bodies))
  test(`the HTML of a composed message is changed, all else stays: ${name}`, async () => {
    const raw = composed(html)
    const [before, after] = [await PostalMime.parse(raw), await parsed(raw)]
    assert.equal(after.html?.trim(), html.replace('</body>', '<img src="p"></body>'))
    assert.equal(after.text, before.text)
    assert.deepEqual(after.attachments, before.attachments)
    assert.deepEqual(after.headers, before.headers)
  })

test('a part in an encoding that nobody knows stays as it is', async () => {
  const head = ['Content-Type: text/html', 'Content-Transfer-Encoding: x-uuencode', '']
  const raw = mail(...head, 'begin 644 a', "-/&)O9'D^:&D\\+V)O9'D^", 'end', '<body></body>')
  assert.equal(await marked(raw), raw.toString('latin1'))
})

test('in any character set that is known, alone or deep inside', async () => {
  const latin = mail(
    'Content-Type: multipart/mixed; boundary="a b"',
    '',
    'for old programs',
    '--a b',
    'Content-Type: multipart/alternative;',
    ' boundary=in_side',
    '',
    '--in_side',
    'Content-Type: text/html; charset="iso-8859-1"',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    '<body>caf=E9 =',
    'cr=E8me</body>',
    '--in_side--',
    '--a b--',
    'behind',
  )
  const text = await marked(latin)
  assert.match(text, /^Content-Type: multipart\/mixed; boundary="a b"\r\n\r\nfor old programs\r\n--a b\r\n/)
  assert.match(text, /\r\n--in_side--\r\n--a b--\r\nbehind$/)
  const whole = mail(
    'Subject: x',
    'Content-Type: text/html; charset=iso-8859-1',
    'Content-Transfer-Encoding: 8bit',
    '',
    '<body>caf\xe9</body>',
    '',
  )
  assert.match((await parsed(whole)).html ?? '', /<body>café<img src="p"><\/body>/)
})

for (const charset of ['windows-1252', 'iso-8859-1'])
  test(`what Windows writes stays readable: ${charset}`, async () => {
    const html = '<body>L\x92\x9cuvre, 5 \x80</body>'
    const raw = mail(`Content-Type: text/html; charset=${charset}`, '', html, '')
    assert.match((await parsed(raw)).html ?? '', /<body>L’œuvre, 5 €<img src="p"><\/body>/)
  })

for (const type of ['text/html', 'text/html; charset=us-ascii'])
  test(`UTF-8 that is not declared stays readable: ${type}`, async () => {
    const raw = Buffer.from(`Content-Type: ${type}\r\n\r\n<body>café 5 €</body>\r\n`)
    assert.match((await parsed(raw)).html ?? '', /<body>café 5 €<img src="p"><\/body>/)
  })

const kept = {
  'signed by its author': ['DKIM-Signature: v=1', 'Content-Type: text/html', '', '<body></body>', ''],
  'signed parts': [
    'Content-Type: multipart/signed; boundary=b',
    '',
    '--b',
    'Content-Type: text/html',
    '',
    '<body></body>',
    '--b--',
  ],
  attached: ['Content-Type: text/html', 'Content-Disposition: attachment', '', '<body></body>', ''],
  'a file by its name alone': ['Content-Type: text/html; name="report.html"', '', '<body></body>', ''],
  'a file that is shown': [
    'Content-Type: text/html',
    'Content-Disposition: inline;',
    " filename*0*=UTF-8''%C3%A9",
    '',
    '<body></body>',
    '',
  ],
  'an unknown character set': ['Content-Type: text/html; charset=martian', '', '<body></body>', ''],
  'octets that are no text': ['Content-Type: text/html; charset=utf-8', '', '<body>\xff</body>', ''],
  'octets of a set that is not declared': ['Content-Type: text/html', '', '<body>\xff</body>', ''],
  'plain text': ['Content-Type: text/plain', '', '<body></body>', ''],
  'without a header': ['', '<body></body>'],
  'without a boundary': ['Content-Type: multipart/mixed', '', '--b', '', '<body></body>'],
  'nothing at all': [''],
}

for (const [name, lines] of Object.entries(kept))
  test(`stays byte for byte: ${name}`, async () => {
    const raw = mail(...lines)
    assert.deepEqual(await changeHtmlParts(raw, mark), raw)
  })

test('blanks at the end of a quoted-printable line go, and many within one are read in no time', async () => {
  const quoted = (line: string) =>
    mail('Content-Type: text/html', 'Content-Transfer-Encoding: quoted-printable', '', line, '</body>', '')
  const seen: string[] = []
  const read = (line: string) => changeHtmlParts(quoted(line), async (html) => `${seen.push(html)}`)
  await read('a \t b=20 \t\r\nc =\r\nd\t ')
  assert.equal(seen[0], 'a \t b \r\nc d\r\n</body>\r\n')
  const took = await quickest(1_000, () => read(`<body>${' '.repeat(1_000_000)}x`))
  assert.ok(took < 1_000, `${took} ms`)
})
