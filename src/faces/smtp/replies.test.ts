import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { refusal } from '../../kernel/refusal.ts'
import { scopeMissing } from '../../kernel/refusals.ts'
import { asciiLine, isFault, isLast, replies, replyTo } from './replies.ts'

test('every reply is one short line of ASCII with a matching enhanced code', () => {
  for (const reply of Object.values(replies)) {
    assert.match(reply, /^(?:354 |([245])\d\d \1\.\d\.\d{1,2} )[ -~]{2,400}$/)
  }
})

test('a refusal becomes one line of ASCII', () => {
  const told = refusal({ code: 'x', kind: 'refused', message: '' })({
    message: 'D\u00e9j\u00e0\r\n250 ok \u{1f600}',
  })
  assert.equal(replyTo(told, 'message'), '550 5.7.1 Deja 250 ok ??')
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.match(asciiLine(text), /^[ -~]{0,400}$/)
    }),
  )
})

test('a missing scope hides behind the answer to a wrong password', () => {
  assert.match(replyTo(scopeMissing(), 'login'), /^535 5\.7\.8/)
  assert.match(replyTo(scopeMissing(), 'sender'), /^550 5\.7\.1/)
})

test('what may be tried again is a temporary failure', () => {
  const busy = refusal({ code: 'busy', kind: 'conflict', message: 'Busy', retryable: true })
  assert.equal(replyTo(busy(), 'message'), '451 4.3.0 Busy')
})

test('a bad address is named as such', () => {
  const bad = refusal({ code: 'invalid_parameter', kind: 'invalid', message: 'Bad' })()
  assert.equal(replyTo(bad, 'sender'), '501 5.1.7 Bad')
  assert.equal(replyTo(bad, 'recipient'), '501 5.1.3 Bad')
})

test('faults of the conversation are told from refusals', () => {
  for (const reply of [
    replies.unknownCommand,
    replies.mailFirst,
    replies.loginFirst,
    replies.unknownParameter,
  ])
    assert.equal(isFault(reply), true, reply)
  for (const reply of [
    replies.recipientSyntax,
    replies.notAscii,
    replies.tooLarge,
    '550 5.7.1 No',
    '535 5.7.8 No',
  ])
    assert.equal(isFault(reply), false, reply)
  assert.equal(isLast(replies.bye), true)
  assert.equal(isLast(replies.ok), false)
})
