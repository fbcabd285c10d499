import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FeedbackFault } from './fault.ts'
import { readScalewayEvents } from './feedback.ts'

const base = {
  id: 'e1',
  organization_id: 'o',
  project_id: 'p',
  domain_id: 'd',
  domain_name: 'sender.example',
  created_at: '2026-03-01T10:00:00.123456Z',
  email_id: 'email-1',
  email_from: 'me@sender.example',
  email_to: 'to@recipient.example',
  email_headers: [
    { key: 'Subject', value: 'Your order' },
    { key: 'x-posthorn-message', value: 'msg_1' },
  ],
}
const read = (event: object) => readScalewayEvents(JSON.stringify({ ...base, ...event }))
const common = {
  provider: 'scaleway',
  upstreamId: 'email-1',
  messageRef: 'msg_1',
  recipient: 'to@recipient.example',
  at: new Date('2026-03-01T10:00:00.123Z'),
}
const withoutRaw = (event: object) => read(event).map(({ raw: _, ...rest }) => rest)

test('queued and delivered', () => {
  assert.deepEqual(withoutRaw({ type: 'email_queued' }), [{ ...common, type: 'send' }])
  const delivered = { type: 'email_delivered', email_response_code: 250, email_response_message: '2.0.0 OK' }
  assert.deepEqual(withoutRaw(delivered), [{ ...common, type: 'delivery' }])
})

test('a mailbox that does not exist', () => {
  const email_response_message = '5.1.1 <to@recipient.example>: user unknown'
  assert.deepEqual(
    withoutRaw({ type: 'email_mailbox_not_found', email_response_code: 550, email_response_message }),
    [
      {
        ...common,
        type: 'bounce',
        bounce: {
          bounceType: 'Permanent',
          subType: 'NoEmail',
          smtpCode: 550,
          enhancedCode: '5.1.1',
          diagnostic: email_response_message,
        },
      },
    ],
  )
})

test('a drop condemns the address only when the code speaks of the address', () => {
  const kinds: [string, string][] = [
    ['5.1.1 no such user', 'Permanent NoEmail'],
    ['550 5.1.10 null MX', 'Permanent NoEmail'],
    ['5.2.2 mailbox full', 'Transient MailboxFull'],
    ['5.3.4 too big', 'Transient MessageTooLarge'],
    ['5.7.1 blocked by policy', 'Transient ContentRejected'],
    ['5.7.26 DMARC', 'Transient ContentRejected'],
    ['5.1.8 bad sender', 'Undetermined Undetermined'],
    ['rejected by 5.1.1.1', 'Undetermined Undetermined'],
    ['', 'Undetermined Undetermined'],
  ]
  for (const [email_response_message, wanted] of kinds) {
    const [event] = read({ type: 'email_dropped', email_response_code: 550, email_response_message })
    assert.equal(`${event?.bounce?.bounceType} ${event?.bounce?.subType}`, wanted, email_response_message)
  }
})

test('deferred, spam and blocklisted', () => {
  const [deferred] = read({
    type: 'email_deferred',
    email_response_code: 0,
    email_response_message: 'timeout',
  })
  assert.deepEqual([deferred?.type, deferred?.bounce?.smtpCode], ['deferred', null])
  const [spam] = read({ type: 'email_spam', email_response_code: 554 })
  assert.deepEqual([spam?.type, spam?.bounce?.subType], ['bounce', 'ContentRejected'])
  const blocked = { type: 'email_blocklisted', email_id: undefined, blocklist_reason: 'mailbox is full' }
  const [full] = read({ ...blocked, blocklist_type: 'mailbox_full' })
  assert.deepEqual(
    [full?.upstreamId, full?.bounce?.bounceType, full?.bounce?.subType],
    [null, 'Transient', 'Suppressed'],
  )
  const [gone] = read({ ...blocked, blocklist_type: 'mailbox_not_found' })
  assert.deepEqual([gone?.bounce?.bounceType, gone?.bounce?.diagnostic], ['Permanent', 'mailbox is full'])
})

test('what is not about one message gives no event', () => {
  for (const type of ['blocklist_created', 'unknown_type', 'invented', 'toString', '__proto__']) {
    assert.deepEqual(read({ type }), [])
  }
})

test('a message without our header has no reference', () => {
  for (const email_headers of [
    undefined,
    null,
    7,
    [null, 7, {}],
    [{ key: 'X-Posthorn-Message', value: 3 }],
  ]) {
    assert.equal(read({ type: 'email_queued', email_headers })[0]?.messageRef, null)
  }
})

test('malformed events give a clear fault, and nothing else', () => {
  const fault = (words: RegExp) => (error: unknown) =>
    error instanceof FeedbackFault && words.test(error.message)
  assert.throws(() => readScalewayEvents('x'), fault(/not JSON/))
  assert.throws(() => readScalewayEvents('{}'), fault(/type/))
  assert.throws(() => read({ type: 'email_queued', email_to: null }), fault(/email_to/))
  assert.throws(() => read({ type: 'email_queued', email_to: 'nobody' }), fault(/email_to/))
  assert.throws(() => read({ type: 'email_queued', created_at: 'x' }), fault(/created_at/))
  const names = [
    'created_at',
    'email_to',
    'email_headers',
    'email_id',
    'email_response_code',
    'email_response_message',
  ]
  const type = fc.constantFrom('email_dropped', 'email_blocklisted', 'email_deferred', 'email_queued')
  const odd = fc.dictionary(fc.constantFrom(...names), fc.jsonValue())
  fc.assert(
    fc.property(type, odd, (kind, fields) => {
      try {
        read({ ...fields, type: kind })
      } catch (error) {
        assert.ok(error instanceof FeedbackFault, String(error))
      }
    }),
    { numRuns: 300 },
  )
})
