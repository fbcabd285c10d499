import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FeedbackFault } from './fault.ts'
import { readSesEvents } from './feedback.ts'

const mail = {
  timestamp: '2026-03-01T10:00:00.000Z',
  messageId: '0102-abc',
  source: 'Me <me@sender.example>',
  destination: ['to@recipient.example'],
  headersTruncated: 'false',
  tags: { posthorn_message: ['msg_1'], posthorn_account: ['acc_1'], 'ses:from-domain': ['sender.example'] },
}
const read = (event: object) => readSesEvents(JSON.stringify({ mail, ...event }))
const at = new Date('2026-03-01T10:00:05.000Z')
const timestamp = at.toISOString()
const common = {
  provider: 'ses',
  upstreamId: '0102-abc',
  messageRef: 'msg_1',
  recipient: 'to@recipient.example',
}

const withoutRaw = (events: ReturnType<typeof readSesEvents>) => events.map(({ raw: _, ...rest }) => rest)

test('a bounce names the recipient, its kind and the codes', () => {
  const bounce = {
    bounceType: 'Permanent',
    bounceSubType: 'General',
    timestamp,
    bouncedRecipients: [
      {
        emailAddress: 'Someone <to@recipient.example>',
        action: 'failed',
        status: '5.1.1',
        diagnosticCode: 'smtp; 550 5.1.1 <to@recipient.example>: user unknown',
      },
    ],
  }
  const diagnostic = 'smtp; 550 5.1.1 <to@recipient.example>: user unknown'
  assert.deepEqual(withoutRaw(read({ eventType: 'Bounce', bounce })), [
    {
      ...common,
      type: 'bounce',
      at,
      bounce: {
        bounceType: 'Permanent',
        subType: 'General',
        smtpCode: 550,
        enhancedCode: '5.1.1',
        diagnostic,
      },
    },
  ])
})

test('a bounce without codes, as from the suppression list, has none', () => {
  const bounce = {
    bounceType: 'Permanent',
    bounceSubType: 'OnAccountSuppressionList',
    timestamp,
    bouncedRecipients: [
      {
        emailAddress: 'to@recipient.example',
        diagnosticCode: 'Amazon SES did not send to 192.168.5.1.1 host',
      },
    ],
  }
  const [event] = read({ eventType: 'Bounce', bounce })
  assert.equal(event?.bounce?.smtpCode, null)
  assert.equal(event?.bounce?.enhancedCode, null)
  assert.equal(event?.bounce?.subType, 'OnAccountSuppressionList')
})

test('an identity notification has no tags and another name for its kind', () => {
  const { tags: _, ...untagged } = mail
  const delivery = { timestamp, recipients: ['a@recipient.example', 'b@recipient.example'] }
  const events = read({ notificationType: 'Delivery', mail: untagged, delivery })
  assert.deepEqual(
    events.map(({ type, recipient, messageRef }) => [type, recipient, messageRef]),
    [
      ['delivery', 'a@recipient.example', null],
      ['delivery', 'b@recipient.example', null],
    ],
  )
})

test('complaints carry their type; a redress and a broken signature are none', () => {
  const complaint = { timestamp, complainedRecipients: [{ emailAddress: 'to@recipient.example' }] }
  const abuse = { ...complaint, complaintFeedbackType: 'abuse', complaintSubType: null }
  assert.deepEqual(withoutRaw(read({ eventType: 'Complaint', complaint: abuse })), [
    { ...common, type: 'complaint', at, complaint: { feedbackType: 'abuse', subType: null } },
  ])
  assert.equal(read({ eventType: 'Complaint', complaint })[0]?.complaint?.feedbackType, null)
  for (const complaintFeedbackType of ['not-spam', 'auth-failure']) {
    assert.deepEqual(read({ eventType: 'Complaint', complaint: { ...complaint, complaintFeedbackType } }), [])
  }
})

test('a delay, a sending, a reject and a rendering failure', () => {
  const delayedRecipients = [
    { emailAddress: 'to@recipient.example', status: '4.4.1', diagnosticCode: 'smtp; 421 4.4.1 no' },
  ]
  const deliveryDelay = { timestamp, delayType: 'MailboxFull', delayedRecipients }
  const [delay] = withoutRaw(read({ eventType: 'DeliveryDelay', deliveryDelay }))
  assert.deepEqual(delay, {
    ...common,
    type: 'deferred',
    at,
    bounce: {
      bounceType: 'Transient',
      subType: 'MailboxFull',
      smtpCode: 421,
      enhancedCode: '4.4.1',
      diagnostic: 'smtp; 421 4.4.1 no',
    },
  })
  const mailAt = new Date(mail.timestamp)
  assert.deepEqual(withoutRaw(read({ eventType: 'Send', send: {} })), [
    { ...common, type: 'send', at: mailAt },
  ])
  const rejected = [{ ...common, type: 'reject', at: mailAt }]
  assert.deepEqual(withoutRaw(read({ eventType: 'Reject', reject: { reason: 'Bad content' } })), rejected)
  assert.deepEqual(withoutRaw(read({ eventType: 'Rendering Failure', failure: {} })), rejected)
})

test('what says nothing about delivery gives no event', () => {
  for (const eventType of ['Open', 'Click', 'Subscription', 'Invented', 'toString', '__proto__']) {
    assert.deepEqual(read({ eventType }), [])
  }
  assert.deepEqual(readSesEvents('Successfully validated SNS topic for Amazon SES event publishing.'), [])
})

test('malformed events give a clear fault', () => {
  const fault = (words: RegExp) => (error: unknown) =>
    error instanceof FeedbackFault && words.test(error.message)
  assert.throws(() => readSesEvents('hello'), fault(/not JSON/))
  assert.throws(() => readSesEvents('[]'), fault(/not a JSON object/))
  assert.throws(() => readSesEvents('{}'), fault(/notificationType/))
  assert.throws(() => read({ eventType: 'Bounce' }), fault(/bounce is missing/))
  assert.throws(() => read({ eventType: 'Bounce', mail: 7, bounce: {} }), fault(/mail is missing/))
  assert.throws(
    () => read({ eventType: 'Delivery', delivery: { timestamp, recipients: [null] } }),
    fault(/recipient/),
  )
  assert.throws(
    () => read({ eventType: 'Delivery', delivery: { timestamp: 'x', recipients: [] } }),
    fault(/timestamp/),
  )
})

test('no input makes it fail in any other way', () => {
  const kinds = ['Bounce', 'Complaint', 'Delivery', 'DeliveryDelay', 'Reject', 'Send', 'Rendering Failure']
  const oddMail = fc.record(
    { timestamp: fc.anything(), messageId: fc.anything(), destination: fc.anything(), tags: fc.anything() },
    { requiredKeys: [] },
  )
  const inner = fc.record(
    {
      timestamp: fc.constant(timestamp),
      bounceType: fc.anything(),
      bouncedRecipients: fc.anything(),
      recipients: fc.anything(),
      complainedRecipients: fc.array(fc.anything()),
      delayedRecipients: fc.array(fc.dictionary(fc.string(), fc.anything())),
    },
    { requiredKeys: [] },
  )
  const event = fc.record({
    eventType: fc.constantFrom(...kinds),
    mail: fc.oneof(fc.constant(mail), oddMail, fc.anything()),
    bounce: inner,
    complaint: inner,
    delivery: inner,
    deliveryDelay: inner,
  })
  fc.assert(
    fc.property(event, (value) => {
      try {
        readSesEvents(JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? String(v) : v)))
      } catch (error) {
        assert.ok(error instanceof FeedbackFault, String(error))
      }
    }),
    { numRuns: 200 },
  )
})
