import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { isDeadAddress } from './classes.ts'
import { classifyReply } from './classify-reply.ts'
import { replies } from './fixtures/replies.ts'

// As a session hands a reply over: the basic code and the enhanced one parted from the text.
const parted = (line: string) => {
  const [, smtpCode, enhancedCode, message = ''] =
    /^(?:([245]\d\d)[ -])?(?:([245]\.\d+\.\d+) )?(.*)$/s.exec(line) ?? []
  return { smtpCode: smtpCode ? Number(smtpCode) : null, enhancedCode: enhancedCode ?? null, message }
}

describe('a reply is understood, parted into codes and text or as one line', () => {
  for (const [line, expected, isDead, stage] of replies)
    test(line || '(no text)', () => {
      for (const reply of [parted(line), { smtpCode: null, enhancedCode: null, message: line }]) {
        const verdict = classifyReply({ ...reply, ...(stage ? { stage } : {}) })
        assert.equal(verdict.class, expected)
        assert.equal(verdict.suppresses, isDead)
        assert.equal(verdict.bounceType, isDead ? 'hard' : 'soft')
        assert.ok(verdict.reason.endsWith('.'))
      }
    })
})

test('the table holds more than a hundred replies', () => assert.ok(replies.length > 100))

test('a permanent refusal is not tried again, a temporary one is', () => {
  const isPermanent = (line: string) => classifyReply(parted(line)).isPermanent
  assert.equal(isPermanent('550 5.7.1 Message rejected as spam'), true)
  assert.equal(isPermanent('550 5.1.1 User unknown'), true)
  assert.equal(isPermanent('450 4.1.1 User unknown'), false)
  assert.equal(isPermanent('421 too many connections'), false)
  assert.equal(isPermanent('550 4.4.7 Message expired'), true)
  assert.equal(isPermanent('5.2.2 Mailbox full'), true)
  assert.equal(isPermanent('Connection reset by peer'), false)
})

test('only trouble of the mailbox counts towards the limit of soft bounces', () => {
  const counts = (line: string) => classifyReply(parted(line)).countsToLimit
  assert.equal(counts('552 5.2.2 Mailbox full'), true)
  assert.equal(counts('554 5.4.7 Delivery expired'), true)
  assert.equal(counts('550 rejected'), true)
  assert.equal(counts('550 5.1.2 Bad destination system address'), true)
  assert.equal(counts('550 5.7.1 blocked using a list'), false)
  assert.equal(counts('552 5.3.4 too large'), false)
  assert.equal(counts('421 4.7.0 slow down'), false)
})

const words = 'user unknown mailbox does not exist disabled rejected blocked spam quota 5.1.1 550 <a@b> moved'
const anyText = fc.oneof(
  fc.string(),
  fc.array(fc.constantFrom(...words.split(' ')), { maxLength: 8 }).map((each) => each.join(' ')),
)

test('4xx, 5.2.2, 5.3.4, 5.6.x and specific 5.7.x never suppress, whatever the text says', () => {
  const never = fc.oneof(
    fc.constantFrom('5.2.2', '5.3.4', '5.2.3'),
    fc.integer({ min: 0, max: 20 }).map((detail) => `5.6.${detail}`),
    fc
      .integer({ min: 2, max: 600 })
      .filter((detail) => detail !== 13 && detail !== 17)
      .map((detail) => `5.7.${detail}`),
    fc.constantFrom('4.1.1', '4.2.2', '4.0.0'),
  )
  fc.assert(
    fc.property(never, anyText, (enhancedCode, message) => {
      assert.equal(classifyReply({ smtpCode: 550, enhancedCode, message }).suppresses, false)
      assert.equal(classifyReply({ smtpCode: 450, enhancedCode: null, message }).suppresses, false)
    }),
  )
})

test('what is not about the recipient never suppresses', () => {
  fc.assert(
    fc.property(anyText, fc.constantFrom('connect', 'EHLO', 'auth', 'mail'), (message, stage) => {
      assert.equal(classifyReply({ smtpCode: 550, enhancedCode: '5.1.1', message, stage }).suppresses, false)
    }),
  )
})

test('what is not about the recipient does not count against it either', () => {
  const mail = (line: string) => classifyReply({ ...parted(line), stage: 'mail' })
  assert.deepEqual([mail('452 4.3.1 Insufficient system storage').class], ['temporary'])
  for (const line of ['452 4.3.1 Insufficient storage', '451 later', '550 5.1.1 User unknown', '554 no'])
    assert.equal(mail(line).countsToLimit, false, line)
})

test('suppressing, hard and dead mean the same for a reply', () => {
  fc.assert(
    fc.property(fc.integer({ min: 400, max: 599 }), anyText, (smtpCode, message) => {
      const verdict = classifyReply({ smtpCode, enhancedCode: null, message })
      assert.equal(verdict.suppresses, verdict.bounceType === 'hard')
      if (verdict.suppresses) assert.ok(isDeadAddress(verdict.class))
    }),
  )
})

test('an address in the text is not read as its words', () => {
  const message = '<spamhaus.user.unknown.quota.exceeded@example.com>: rejected'
  assert.equal(classifyReply({ smtpCode: 550, enhancedCode: null, message }).class, 'other')
})

test('an Internet address is not read as a status code', () => {
  assert.equal(
    classifyReply({ smtpCode: 554, enhancedCode: null, message: 'refused from 5.1.1.2' }).class,
    'other',
  )
})

test('a very long reply is read in little time', () => {
  for (const piece of [
    'user ',
    '<',
    'a@',
    '5.1.',
    'mailbox has exceeded ',
    'sender ',
    ' ',
    '550-5.1.1 boite ',
  ])
    classifyReply({ smtpCode: 550, enhancedCode: null, message: piece.repeat(200_000) })
})
