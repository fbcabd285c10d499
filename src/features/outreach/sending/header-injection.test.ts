// Whatever a prospect is called: a step has the expected header lines and no other.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import PostalMime from 'postal-mime'
import { fieldNames, headOf } from '../../../../test/faults/raw-message.ts'
import { oneLine } from '../../../kernel/v3/lenient.ts'
import { readOneProspect } from '../prospects/write-prospects.ts'
import { addressOf } from './claim-step.ts'
import { composeOutreach } from './compose-outreach.ts'
import { renderStep } from './render-step.ts'

const pieces = [
  ...[
    '\r\n',
    '\n',
    '\r',
    '\0',
    '\t',
    '\v',
    '\x1b',
    '\x85',
    '\u2028',
    '\ud800',
    '🎺',
    'é',
    ' ',
    '=?utf-8?q?a?=',
  ],
  ...[
    '"',
    '\\',
    '<',
    '>',
    ',',
    ';',
    ':',
    '@',
    '\r\nBcc: x@y.example',
    '\nX-Evil: 1',
    '\r\n\r\nbody',
    '{{ email }}',
  ],
]
const piece = fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary', maxLength: 8 }))
const words = fc.array(piece, { maxLength: 6 }).map((each) => each.join(''))
const people = fc.record({ firstName: words, lastName: words, company: words, source: words, city: words })

const step = {
  delayDays: 0,
  subject: '{{ firstName }} {{ lastName }} {{ company }} {{ CITY }}',
  text: 'Dear {{ firstName }} of {{ company }}, {{ CITY }}',
  html: '<p>Dear {{ firstName }} {{ CITY }}</p>',
  sameThread: false,
}

const expected = [
  ...['From', 'To', 'Subject', 'Date', 'Message-ID', 'List-Unsubscribe', 'List-Unsubscribe-Post'],
  ...['X-Posthorn-Id', 'MIME-Version', 'Content-Type'],
]

test('names, companies and attributes stay where they belong', async () => {
  await fc.assert(
    fc.asyncProperty(people, async ({ city, ...given }) => {
      const email = 'ann@globex.example'
      const read = readOneProspect({ ...given, email, attributes: { CITY: city } })
      const [first_name, last_name] = [read.firstName ?? '', read.lastName ?? '']
      const [company, source, attributes] = [read.company ?? '', read.source ?? '', read.attributes ?? {}]
      const prospect = { email, first_name, last_name, company, attributes, source }
      const sender = { email: 'me@acme.example', name: oneLine(given.firstName) }
      const unsubscribeUrl = 'http://test/u/token'
      const rendered = await renderStep(
        { ...step, subject: `Hi ${step.subject}` },
        { prospect, sender, unsubscribeUrl, now: new Date(0) },
        [],
      )
      const { raw } = composeOutreach({
        ...rendered,
        id: 'id-1',
        messageId: '<m1@acme.example>',
        from: addressOf(sender),
        to: addressOf({ email, name: `${first_name} ${last_name}`.trim() }),
        identity: { company_name: 'Acme', postal_address: 'Paris' },
        unsubscribeUrl,
        source,
        date: new Date(0),
      })
      assert.deepEqual(fieldNames(headOf(raw)).sort(), [...expected].sort())
      const mail = await PostalMime.parse(raw)
      assert.deepEqual([mail.to?.length, mail.to?.[0]?.address, mail.from?.address], [1, email, sender.email])
    }),
    { numRuns: 300 },
  )
})
