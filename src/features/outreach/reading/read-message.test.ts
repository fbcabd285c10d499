import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { complaint, report } from './fixtures/reports.ts'
import { parseMail } from './parse-mail.ts'
import { readMessage } from './read-message.ts'

const receivedAt = new Date('2026-11-15T10:00:00Z')

async function read(headers: string[], body: string) {
  const raw = [...headers, '', body].join('\r\n')
  const mail = await parseMail(Buffer.from(raw))
  assert.ok(mail)
  return { mail, reading: readMessage(mail, receivedAt) }
}

const from = 'From: Anna <anna@example.org>'
const subject = 'Subject: Re: Hello'

test('a message is taken apart', async () => {
  const ids = [
    'Message-ID: <r1@example.org>',
    'In-Reply-To: <m1@a.example>',
    'References: <m0@a.example>\r\n <m1@a.example>',
  ]
  const { mail, reading } = await read(
    [from, 'Subject: =?utf-8?q?R=C3=A9=3A_Hello?=', ...ids],
    'I am interested, call me',
  )
  assert.equal(mail.from, 'anna@example.org')
  assert.equal(mail.subject, 'Ré: Hello')
  assert.deepEqual(
    [mail.messageId, mail.inReplyTo, mail.references],
    ['<r1@example.org>', ['<m1@a.example>'], ['<m0@a.example>', '<m1@a.example>']],
  )
  assert.equal(reading.kind === 'reply' && reading.verdict.classification, 'interested')
})

describe('a machine is known by its headers', () => {
  const headers: [string[], boolean][] = [
    [['Auto-Submitted: auto-replied'], true],
    [['Auto-Submitted: auto-replied (vacation)'], true],
    [['Auto-Submitted: no'], false],
    [['X-Autoreply: yes'], true],
    [['Precedence: auto_reply'], true],
    [['Precedence: bulk'], false],
    [['X-Auto-Response-Suppress: All'], false],
    [['X-Auto-Response-Suppress: All', 'X-MS-Exchange-Inbox-Rules-Loop: a@b.example'], true],
    [['Return-Path: <>'], true],
    [['Subject: Auto: Hello'], false],
  ]
  for (const [given, isMachine] of headers)
    test(given.join(' '), async () => {
      const { reading } = await read([from, subject, ...given], 'Thank you for your message.')
      assert.ok(reading.kind === (isMachine ? 'automatic' : 'reply'))
      assert.equal(reading.verdict.classification, null)
    })
})

describe('what no person wrote, though no header says so', () => {
  const receipt = [
    '--b',
    'Content-Type: text/plain',
    '',
    'Your message was deleted without being read. You do not need to resend it.',
    '--b',
    'Content-Type: message/disposition-notification',
    '',
    'Disposition: manual-action/MDN-sent-manually; deleted',
    '--b--',
  ].join('\r\n')
  const type = 'Content-Type: multipart/report; report-type=disposition-notification; boundary="b"'
  test('a receipt', async () => {
    const { reading } = await read([from, 'Subject: Not read: Hello', type], receipt)
    assert.ok(reading.kind === 'automatic' && reading.verdict.classification === null)
  })
  test('a warning of a server', async () => {
    const given = ['From: MAILER-DAEMON@mx.example.org', 'Subject: Warning: could not send message']
    const { reading } = await read(given, 'YOU DO NOT NEED TO RESEND YOUR MESSAGE')
    assert.ok(reading.kind === 'automatic' && reading.verdict.classification === null)
  })
  test('an absence in a language of which only the subject is known', async () => {
    const given = [from, 'Subject: Automatisch antwoord: Hello', 'Auto-Submitted: auto-replied']
    const { reading } = await read(given, 'Ik ben er niet.')
    assert.ok(reading.kind === 'automatic' && reading.verdict.classification === 'absence')
  })
})

test('a machine that tells of a departure', async () => {
  const { reading } = await read(
    [from, 'Subject: Automatic reply', 'Auto-Submitted: auto-replied'],
    'I am no longer with the company.',
  )
  assert.ok(reading.kind === 'automatic' && reading.hasLeft)
})

test('a departure and an absence that no header tells of', async () => {
  const gone = await read([from, subject], "Elle ne fait plus partie de l'entreprise.")
  assert.ok(gone.reading.kind === 'automatic' && gone.reading.hasLeft)
  const { reading } = await read([from, subject], "Je suis en congés jusqu'au 30 novembre.")
  assert.ok(reading.kind === 'automatic' && reading.verdict.classification === 'absence')
  assert.equal(reading.awayUntil?.toISOString().slice(0, 10), '2026-11-30')
})

describe('a report', () => {
  const bounceOf = async (raw: string) => {
    const mail = await parseMail(Buffer.from(raw))
    assert.ok(mail)
    const reading = readMessage(mail, receivedAt)
    assert.ok(reading.kind === 'bounce')
    assert.equal(reading.bounces.length, 1)
    return reading.bounces[0] as (typeof reading.bounces)[number]
  }

  test('of failure names the recipient, the status and the message', async () => {
    const bounce = await bounceOf(report({ recipient: 'gone@example.org', original: '<m1@a.example>' }))
    assert.deepEqual(
      { ...bounce, words: '' },
      {
        isFailed: true,
        recipients: ['gone@example.org'],
        ended: 'gone@example.org',
        status: '5.1.1',
        smtpCode: 550,
        diagnostic: '550 5.1.1 <gone@example.org>: user unknown',
        originals: ['<m1@a.example>'],
        refs: [],
        words: '',
      },
    )
  })

  test('of delay is no failure', async () => {
    const bounce = await bounceOf(
      report({
        recipient: 'slow@example.org',
        original: '<m1@a.example>',
        action: 'delayed',
        status: '4.4.1',
      }),
    )
    assert.equal(bounce.isFailed, false)
  })

  test('in the form for addresses of any script is read as well', async () => {
    const raw = report({ recipient: 'gone@example.org', original: '<m1@a.example>' })
      .replace('message/delivery-status', 'message/global-delivery-status')
      .replace('text/rfc822-headers', 'message/global-headers')
    const { isFailed, recipients, status, originals } = await bounceOf(raw)
    assert.deepEqual(
      [isFailed, recipients, status, originals],
      [true, ['gone@example.org'], '5.1.1', ['<m1@a.example>']],
    )
  })

  test('of an old server is read from its words', async () => {
    const raw = [
      'From: MAILER-DAEMON@mx.example.org',
      'Subject: failure notice',
      'Return-Path: <>',
      '',
      'Hi. This is the qmail-send program.',
      '<gone@example.org>:',
      '550 5.1.1 No such user here',
      '--- Below this line is a copy of the message.',
      'Message-ID: <m1@a.example>',
    ].join('\r\n')
    const bounce = await bounceOf(raw)
    assert.ok(bounce.isFailed && bounce.words.includes('gone@example.org'))
    assert.deepEqual([bounce.status, bounce.smtpCode, bounce.originals], ['5.1.1', 550, ['<m1@a.example>']])
  })
})

test('a report of abuse names the message by its identifier and by ours; others are no complaint', async () => {
  const ref = '0199c0de-0000-7000-8000-000000000001'
  const readingOf = async (type: string) => {
    const mail = await parseMail(Buffer.from(complaint({ original: '<m1@a.example>', ref, type })))
    assert.ok(mail)
    return readMessage(mail, receivedAt)
  }
  const reported = { originals: ['<m1@a.example>'], refs: [ref] }
  for (const [type, isComplaint] of [
    ['abuse', true],
    ['opt-out', true],
    ['not-spam', false],
    ['auth-failure', false],
  ] as const)
    assert.deepEqual(await readingOf(type), {
      kind: 'complaint',
      complaint: { ...reported, type, isComplaint },
    })
})

test('what is no mail is refused or harmless', async () => {
  for (const raw of [
    '',
    '\0\0\0',
    'x'.repeat(100_000),
    'Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\n'.repeat(50),
  ]) {
    const mail = await parseMail(Buffer.from(raw))
    if (mail) readMessage(mail, receivedAt)
  }
})
