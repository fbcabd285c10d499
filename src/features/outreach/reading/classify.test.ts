import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { absenceIn, classifyText, hasLeft, saysToHaveLeft } from './classify.ts'
import { absences, awayPeople, replies, silentAbsences } from './fixtures/replies.ts'
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

test('a subject with nothing under it can ask as well', () => {
  const of = (text: string, subject: string) => classifyText(text, subject).classification
  for (const subject of ['STOP', 'Désinscription', 'Abmeldung', 'remove', 'Baja', 'Unsubscribe'])
    assert.equal(of('', subject), 'unsubscribe', subject)
  assert.equal(of('How many seats are left?', 'STOP'), null)
  assert.equal(of('', 'Re: Stop losing time'), null)
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

describe('an absence without a header that says so', () => {
  for (const text of silentAbsences) test(text, () => assert.ok(absenceIn(text, 'Re: Hello', false) >= 0.6))
  for (const text of awayPeople)
    test(`not: ${text}`, () => assert.equal(absenceIn(text, 'Re: Hello', false), 0))
  test('by its subject alone', () => {
    for (const subject of ['Absence du bureau', 'Out of Office: Hello', 'Abwesenheitsnotiz', 'Fuori sede'])
      assert.ok(absenceIn('Thank you.', subject, false) >= 0.6, subject)
    for (const subject of ['Re: Absence du bureau', 'Re: absenteeism', 'Your out of office rules'])
      assert.equal(absenceIn('Thank you.', subject, false), 0, subject)
  })
})

test('a person who left is told from other things that are no longer so', () => {
  for (const text of [
    'I am no longer with the company.',
    "Paul ne fait plus partie de l'entreprise.",
    "Bonjour, M. Petit n'est plus dans la société.",
    "Je ne suis plus au sein de l'entreprise.",
    'Anna has left the company.',
    'Herr Weber ist nicht mehr in unserem Unternehmen tätig.',
    'Juan ya no trabaja con nosotros.',
    'Paolo non lavora più qui.',
  ])
    assert.ok(saysToHaveLeft(text, 'Re: Hello'), text)
  for (const text of [
    'This does not work for us.',
    'We are no longer working with that company.',
    "Ce n'est plus dans nos projets.",
    'Paul has left the company, but I am interested.',
    'Paul is no longer with the company. Please remove me.',
  ])
    assert.ok(!saysToHaveLeft(text, 'Re: Hello'), text)
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
