import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import PostalMime from 'postal-mime'
import { composeMail, type Mail } from './compose.ts'
import { assertWire, headerNames, mailWith } from './fixtures/mail.ts'

// Any characters, with those that end lines, names and parts more often than chance would have it.
const hostile = fc.constantFrom(
  '\r\n',
  '\n',
  '\r',
  '\0',
  '\t',
  '"',
  '\\',
  '<',
  '>',
  ',',
  ';',
  ':',
  '=?',
  '?=',
  '@',
  '(',
  '\r\nBcc: x@y.example',
  '--',
  '\ud800',
  '\u2028',
  '🎺',
  'é',
  ' ',
)
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.array(fc.oneof(hostile, fc.string({ maxLength: 12 })), { maxLength: 12 }).map((parts) => parts.join('')),
)
// Mostly without control characters, so that most messages get past the first check.
const calm = text.map((each) => each.replace(/(?!\t)[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/gu, ''))
const value = fc.oneof({ weight: 9, arbitrary: calm }, { weight: 1, arbitrary: text })
const email = fc.oneof(
  { weight: 8, arbitrary: fc.emailAddress() },
  { weight: 1, arbitrary: value.map((local) => `${local}@x.example`) },
  { weight: 1, arbitrary: value },
)
const address = fc.record({ email, name: value }, { requiredKeys: ['email'] })
const attachment = fc.record(
  {
    filename: value,
    contentType: fc.oneof({ weight: 9, arbitrary: fc.constant('image/png') }, value),
    content: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    contentId: fc.oneof({ weight: 9, arbitrary: fc.constant('logo') }, value),
  },
  { requiredKeys: ['filename', 'contentType', 'content'] },
)
const header = fc.tuple(
  fc.oneof({ weight: 9, arbitrary: fc.constantFrom('X-A', 'X-B', 'List-Id') }, value),
  value,
)
const mail = fc.record(
  {
    from: address,
    to: fc.array(address, { minLength: 1, maxLength: 3 }),
    cc: fc.array(address, { maxLength: 2 }),
    replyTo: fc.array(address, { maxLength: 1 }),
    subject: value,
    html: text,
    text,
    headers: fc.array(header, { maxLength: 3 }),
    attachments: fc.array(attachment, { maxLength: 2 }),
    messageId: fc.oneof({ weight: 9, arbitrary: fc.constant('<id@x.example>') }, value),
  },
  { requiredKeys: [] },
)

function expectedNames(given: Mail): string[] {
  const single = !given.attachments.length && !(given.text && given.html)
  return [
    'From',
    ...(given.to.length ? ['To'] : []),
    ...(given.cc?.length ? ['Cc'] : []),
    ...(given.replyTo?.length ? ['Reply-To'] : []),
    'Subject',
    'Date',
    'Message-ID',
    ...given.headers.map(([name]) => name),
    'MIME-Version',
    'Content-Type',
    ...(single ? ['Content-Transfer-Encoding'] : []),
  ]
}

function composed(given: Mail): Buffer | undefined {
  try {
    return composeMail(given)
  } catch (error) {
    assert.match(String(error), /was not composed|fits on no line/)
    return undefined
  }
}

test('whatever the fields hold, no header, recipient or part is added, and all comes back', async () => {
  let written = 0
  await fc.assert(
    fc.asyncProperty(mail, async (changes) => {
      const given = mailWith(changes)
      const raw = composed(given)
      if (!raw) return
      written++
      assertWire(raw)
      assert.deepEqual(headerNames(raw), expectedNames(given))
      const parsed = await PostalMime.parse(raw)
      const emails = (list: Mail['to'] | undefined) => list?.map((each) => each.email.toLowerCase()) ?? []
      const seen = (list: typeof parsed.to) => list?.map((each) => each.address?.toLowerCase()) ?? []
      assert.deepEqual(seen(parsed.to), emails(given.to))
      assert.deepEqual(seen(parsed.cc), emails(given.cc))
      assert.deepEqual(seen(parsed.from ? [parsed.from] : []), emails([given.from]))
      assert.equal(parsed.subject ?? '', given.subject)
      // The parser trims names.
      assert.equal(parsed.from?.name.trim(), (given.from.name ?? '').trim())
      assert.deepEqual(
        parsed.attachments.map(({ filename }) => filename ?? '').sort(),
        given.attachments.map(({ filename }) => filename).sort(),
      )
    }),
    { numRuns: 1000 },
  )
  assert.ok(written > 150, `only ${written} messages were written`)
})
