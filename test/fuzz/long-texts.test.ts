// Texts of one piece repeated: whatever reads them must not take a time that grows with the square of their length.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { escapedSource } from '../../src/features/campaigns/campaign-source.ts'
import { isMoreThanValues } from '../../src/features/campaigns/sending/compile-with-text.ts'
import { readFormula } from '../../src/features/contacts/attributes/formula.ts'
import { readCsv } from '../../src/features/contacts/import/csv.ts'
import { classifyReply } from '../../src/features/messages/bounces/classify-reply.ts'
import { textFromHtml } from '../../src/features/messages/mime/text-from-html.ts'
import { openMail } from '../../src/features/messages/relay/mail.ts'
import { readMail } from '../../src/features/messages/relay/read-mail.ts'
import { compileTemplate } from '../../src/features/messages/templates/compile.ts'
import { linksOf, rewriteHtml } from '../../src/features/messages/tracking/rewrite.ts'
import { readsContact } from '../../src/features/transactional/contact-scope.ts'
import { textAround } from '../../src/features/transactional/find-warnings.ts'
import { readAddress } from '../../src/kernel/email-address.ts'
import { parseJson } from '../../src/kernel/json.ts'
import { oneLine } from '../../src/kernel/v3/lenient.ts'

const characters = 200_000
// A tenth of it is usual here; what goes with the square takes minutes.
const mostMs = 3_000

const pieces = [
  ...[
    '{{',
    '{%',
    '{',
    '}',
    '<',
    '</',
    '<!--',
    '<a',
    '<a href="',
    "<a '",
    '<p>',
    '<b ',
    '<table>',
    '<ul>',
    '</body>',
  ],
  ...[
    ' ',
    '\n',
    '\r\n ',
    '\t',
    '"',
    '\\',
    "'",
    ',',
    ';',
    '(',
    '()',
    '@',
    '.',
    '&',
    '&#',
    '9',
    'x',
    'é',
    '=',
    ':',
    '|',
  ],
  ...['{{ x }}', '{{ x | ', '{% if x %}', '{{{%%}', 'a@b.com,', '=?utf-8?q?x?= ', '\u202e', '-', '+1'],
]

const readers: Record<string, (text: string) => unknown> = {
  address: readAddress,
  'bracketed address': (text) => readAddress(`Anna ${text}<anna@example.com>`),
  'the source of a preview': escapedSource,
  'whether a template has more than values': isMoreThanValues,
  'whether a template reads the contact': readsContact,
  'text around tags': textAround,
  'text from HTML': textFromHtml,
  links: linksOf,
  'tracked HTML': (text) => rewriteHtml(text, { click: (url) => url, pixelUrl: 'https://example.com/' }),
  template: (text) => compileTemplate(text, 'html'),
  formula: (text) => readFormula(text, []),
  CSV: (text) => [...readCsv(`email\n${text}`)],
  'answer of a server': (text) => classifyReply({ code: 550, text: text, message: text } as never),
  'mail with a long header': (text) =>
    readMail(openMail(Buffer.from(`From: ${text}\r\nTo: ${text}\r\n\r\n${text}`))),
  JSON: (text) => parseJson(Buffer.from(text)),
  'one line': oneLine,
}

for (const [name, read] of Object.entries(readers)) {
  test(name, () => {
    for (const piece of pieces) {
      const started = performance.now()
      try {
        read(piece.repeat(characters / piece.length))
      } catch {
        // Refused is as good as read.
      }
      const ms = performance.now() - started
      assert.ok(ms < mostMs, `${JSON.stringify(piece)} took ${Math.round(ms)} ms`)
    }
  })
}
