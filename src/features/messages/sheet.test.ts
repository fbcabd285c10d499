import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { htmlSheet, textSheet } from './sheet.ts'
import { compileTemplate, environmentOf } from './templates/compile.ts'
import { rewriteHtml } from './tracking/rewrite.ts'

const ownLinks = new Set(['unsubscribe_url', 'mirror'])
const baseUrl = 'https://mail.example'
const scope = (contact: Record<string, unknown>) => ({
  contact,
  unsubscribe_url: `${baseUrl}/u/abc_-${'d'.repeat(90)}`,
  mirror: `${baseUrl}/mirror/x`,
})

const rewritings = [
  {},
  { click: (url: string) => `${baseUrl}/t/${Buffer.from(url).toString('base64url')}` },
  { pixelUrl: `${baseUrl}/t/p.gif?a=1&b=2` },
  { click: (url: string) => `${baseUrl}/t/?${url.length}&"${url}"`, pixelUrl: `${baseUrl}/t/p.gif` },
].map((each) => ({ ...each, except: (url: string) => url.startsWith(`${baseUrl}/`) }))

function sheetOf(source: string, kind: 'html' | 'text' = 'html') {
  const { parts } = compileTemplate(source, kind)
  assert.ok(parts, source)
  return kind === 'html' ? htmlSheet({ parts, ownLinks }) : textSheet(parts)
}

/** RFC 2045 §6.7, line ends as LF. */
function decoded(quoted: string): string {
  for (const line of quoted.split('\r\n')) {
    assert.ok(line.length <= 76, line)
    assert.match(line, /^[\t -~]*$/)
    assert.doesNotMatch(line, /[ \t]$/)
    assert.doesNotMatch(line, /^From /)
  }
  const octets = quoted
    .replaceAll('=\r\n', '')
    .replaceAll('\r\n', '\n')
    .replace(/=([\dA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(octets, 'latin1').toString()
}

const value = fc.oneof(
  fc.string({ maxLength: 200 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom(
    '',
    ' ',
    'From ',
    'a=b\r\nc \n',
    '<a href="https://evil.example">x</a>',
    '0v0',
    'é'.repeat(80),
  ),
)
const fixed = fc.oneof(
  fc.stringMatching(/^[a-z .=\n\t-]{0,120}$/),
  fc.constantFrom(
    '<p class="x">',
    '</p>\n',
    '<a href="https://shop.example/a?b=1&amp;c=2">shop</a>',
    "<a href='https://mail.example/own'>own</a>",
    '<a data-no-track href="https://shop.example/">quiet</a>',
    '<a href={{ unsubscribe_url }}>out</a>',
    '<a href="{{ mirror }}">page</a>',
    '<body>',
    '</body>',
    '<!-- <a href="https://shop.example/hidden"> -->',
    'From here\nFrom there ',
    'é ü 🎉 ',
    `${'long '.repeat(40)}`,
  ),
)
const gap = fc.constantFrom('{{ contact.A }}', '{{ contact.B | upcase }}', '{{ unsubscribe_url }}')
const source = fc.array(fc.oneof(fixed, gap), { maxLength: 12 }).map((pieces) => pieces.join(''))

describe('a sheet', () => {
  test('filled in is what rendering and tracking one by one make', () => {
    fc.assert(
      fc.property(source, value, value, (text, a, b) => {
        const sheet = sheetOf(text)
        fc.pre(sheet !== undefined)
        const given = scope({ A: a, B: b })
        const { parts = [] } = compileTemplate(text, 'html')
        const environment = environmentOf(given)
        const rendered = parts
          .map((part) => (typeof part === 'string' ? part : part.print(environment)))
          .join('')
        for (const rewriting of rewritings) {
          const { encoding, body } = sheet(environment, rewriting)
          assert.equal(encoding, 'quoted-printable')
          const lines = rewriteHtml(rendered.replaceAll('\0', '').toWellFormed(), rewriting)
          assert.equal(decoded(body), lines.replace(/\r\n?/g, '\n'))
        }
      }),
      { numRuns: 1_000 },
    )
  })

  test('of text is filled in as it stands', () => {
    const sheet = sheetOf('Dear {{ contact.A }},\n\nto {{ unsubscribe_url }} \n', 'text')
    const { body } = sheet?.(environmentOf(scope({ A: 'Zoë & <Co>' })), {}) ?? { body: '' }
    assert.equal(decoded(body), `Dear Zoë & <Co>,\n\nto ${scope({}).unsubscribe_url} \n`)
  })

  test('is not made where a value could be a link, part of one, or markup', () => {
    const unsafe = [
      '<a href="https://shop.example/{{ contact.A }}">x</a>',
      '<a href="{{ contact.A }}">x</a>',
      '<a {{ contact.A }} href="https://shop.example/">x</a>',
      '<a class="{{ contact.A }}" href="https://shop.example/">x</a>',
      '<a class="{{ contact.A }}" href="{{ unsubscribe_url }}">x</a>',
      '<{{ contact.A }} href="https://shop.example/">x</{{ contact.A }}>',
      '<ar{{ contact.A }} href="https://shop.example/">',
      '{{ contact.A | raw }}',
    ]
    for (const each of unsafe) assert.equal(sheetOf(each), undefined, each)
  })

  test('is not made where base64 is shorter', () => {
    assert.equal(sheetOf(`<p>${'привет '.repeat(20)}{{ contact.A }}</p>`), undefined)
    assert.ok(sheetOf('<p>Grüße, {{ contact.A }}</p>'))
  })

  test('is made in time that grows with its length', () => {
    const started = performance.now()
    sheetOf(`${'<a'.repeat(200_000)}{{ contact.A }}`)
    sheetOf(`${'<a href='.repeat(50_000)}{{ contact.A }}`)
    assert.ok(performance.now() - started < 5_000)
  })

  test('refuses what grows too large', () => {
    const sheet = sheetOf('<p>{{ contact.A }}{{ contact.A }}</p>')
    assert.throws(() => sheet?.(environmentOf(scope({ A: 'x'.repeat(3_000_000) })), {}), /larger than/)
  })
})
