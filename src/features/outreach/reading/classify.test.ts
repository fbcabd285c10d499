import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { absenceIn, classifyText, hasLeft } from './classify.ts'
import { absences, replies } from './fixtures/replies.ts'
import { normalSubject } from './fold.ts'
import { returnDate } from './return-date.ts'

describe('a reply is understood', () => {
  for (const [text, expected] of replies)
    test(text, () => {
      const { classification, confidence, reason } = classifyText(text, 'Re: Hello')
      assert.equal(classification, expected, `${confidence} ${reason}`)
      assert.ok(expected === null ? confidence <= 0.5 : confidence >= 0.6)
    })
})

const receivedAt = new Date('2026-11-15T10:00:00Z')

describe('an absence is known, and its end', () => {
  for (const [subject, text, until] of absences)
    test(text, () => {
      assert.ok(absenceIn(text, subject, true) > 0.6)
      const found = returnDate(`${subject}. ${text}`, receivedAt)
      assert.equal(found?.toISOString().slice(0, 10) ?? null, until)
    })
})

test('somebody who mentions a holiday is no machine', () => {
  assert.equal(absenceIn('I am on leave next week, let us talk after.', 'Re: Hello', false), 0)
  assert.ok(absenceIn('I am on leave until Friday.', 'Out of office: Hello', false) > 0.6)
})

test('a date in the past, too far ahead or of something else is not the return', () => {
  for (const text of [
    'back on 3 March 2026',
    'back on 3 March 2031',
    'The fair is in Lyon. 20 January 2027',
    'back on 31/02',
  ])
    assert.equal(returnDate(text, receivedAt), undefined, text)
})

test('who left the company is known in five languages', () => {
  for (const text of [
    'Anna is no longer with the company.',
    'John has left the company.',
    'Anna ne fait plus partie de la société.',
    'Herr Weber ist nicht mehr in unserem Unternehmen tätig.',
    'Juan ya no trabaja aquí.',
    'Paolo non lavora più con noi.',
  ])
    assert.ok(hasLeft(text), text)
  assert.ok(!hasLeft('I am no longer interested.'))
})

test('the footer of our own message is not a wish to leave', () => {
  const text = 'Yes, sounds good\n\nCompany\nUnsubscribe: https://mail.example/u/abc'
  assert.equal(classifyText(text, 'Re: Hello').classification, 'interested')
})

test('a subject is the same before and after answers', () => {
  for (const subject of [
    'Hello',
    'Re: Hello',
    'AW: RE: Hello',
    'TR : Re[2]: Hello',
    'Rif: hello',
    '[EXT] Héllo',
  ])
    assert.equal(normalSubject(subject), 'hello', subject)
})

test('any text is read, and in little time', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 2_000 }), (text) => {
      classifyText(text, text)
      returnDate(text, receivedAt)
    }),
  )
  for (const piece of ['not ', 'no ', 'back to ', '1 ', 'a b ', 'unsubscribe: ', 'ne plus ', "n't "]) {
    classifyText(piece.repeat(100_000), piece)
    returnDate(piece.repeat(100_000), receivedAt)
  }
})
