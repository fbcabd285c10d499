import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Kind } from '../../kernel/refusal.ts'
import { envelope, held, openFor, refuse, submit, talkTo } from './fixtures/testing.ts'
import { isTooSlow } from './message.ts'

const smuggled = 'MAIL FROM:<evil@x.test>\r\nRCPT TO:<c@x.test>\r\nDATA\r\nevil\r\n'

const falseEnds = [
  '\n.\n',
  '\r.\r',
  '\r\n.\n',
  '\n.\r\n',
  '\r.\r\n',
  '\r\n.\r',
  '\r\n.\r\r\n',
  '\n\n.\r\n',
  '\0\r\n.\0\r\n',
]

for (const end of falseEnds)
  test(`${JSON.stringify(end)} neither ends a message nor is let through`, async (t) => {
    const { port, mails } = await openFor(t)
    const talk = await talkTo(t, port)
    await talk.login()
    const reply = await submit(talk, `first${end}${smuggled}.\r\n`)
    assert.match(reply ?? '', /^550 5\.6\.0/)
    assert.match((await talk.ask('NOOP')) ?? '', /^250 /)
    assert.match((await talk.ask('MAIL FROM:<a@sender.test>')) ?? '', /^250 /)
    assert.deepEqual(mails, [])
  })

test('what comes behind the real end is the next command', async (t) => {
  const { port, mails } = await openFor(t)
  const talk = await talkTo(t, port)
  await talk.login()
  assert.match((await submit(talk, 'one\r\n.\r\nNOOP\r\n')) ?? '', /^250 2\.0\.0 queued/)
  assert.equal(await talk.reply(), '250 2.0.0 Ok')
  assert.equal(mails.length, 1)
})

const dots: [string, string][] = [
  ['.\r\n', ''],
  ['..\r\n.\r\n', '.\r\n'],
  ['...\r\na.b\r\n.\r\n', '..\r\na.b\r\n'],
  ['.a\r\n.\r\n', 'a\r\n'],
  ['a\r\n\r\n..\r\n\r\n.\r\n', 'a\r\n\r\n.\r\n\r\n'],
]

for (const [sent, kept] of dots)
  test(`${JSON.stringify(sent)} is the message ${JSON.stringify(kept)}`, async (t) => {
    const { port, mails } = await openFor(t)
    const talk = await talkTo(t, port)
    await talk.login()
    await submit(talk, sent)
    assert.equal(mails[0]?.raw.toString(), kept)
  })

test('octets of every kind but NUL pass unchanged', async (t) => {
  const { port, mails } = await openFor(t)
  const talk = await talkTo(t, port)
  await talk.login()
  const octets = Array.from({ length: 255 }, (_, at) => at + 1).filter(
    (octet) => octet !== 10 && octet !== 13,
  )
  const line = `${Buffer.from(octets).toString('latin1')}\r\n`
  await submit(talk, `${line}.\r\n`)
  assert.equal(mails[0]?.raw.toString('latin1'), line)
})

test('a line of 998 characters passes and a longer one is refused', async (t) => {
  const { port } = await openFor(t)
  const talk = await talkTo(t, port)
  await talk.login()
  assert.match((await submit(talk, `${'x'.repeat(998)}\r\n.\r\n`)) ?? '', /^250 /)
  assert.match((await submit(talk, `..${'x'.repeat(997)}\r\n.\r\n`)) ?? '', /^250 /)
  assert.match((await submit(talk, `${'x'.repeat(999)}\r\n.\r\n`)) ?? '', /^550 5\.6\.0 .*998/)
})

test('a message over the size is read to its end and refused, and the session goes on', async (t) => {
  const { port, mails } = await openFor(t, { maxBytes: 1_000 })
  const talk = await talkTo(t, port)
  await talk.login()
  const line = `${'x'.repeat(98)}\r\n`
  assert.match((await submit(talk, `${line.repeat(500)}.\r\n`)) ?? '', /^552 5\.3\.4/)
  assert.match((await submit(talk, `${line.repeat(10)}.\r\n`)) ?? '', /^250 /)
  assert.match((await submit(talk, `${line.repeat(10)}\r\n.\r\n`)) ?? '', /^552 5\.3\.4/)
  assert.match((await talk.ask('MAIL FROM:<a@sender.test> SIZE=1001')) ?? '', /^552 5\.3\.4/)
  assert.equal(mails.length, 1)
})

const kinds: [Kind, string, string?][] = [
  ['malformed', '550 5.6.0'],
  ['invalid', '550 5.6.0'],
  ['refused', '550 5.7.1'],
  ['unauthenticated', '530 5.7.0'],
  ['forbidden', '550 5.7.1'],
  ['not_found', '550 5.7.1'],
  ['conflict', '550 5.7.1'],
  ['too_large', '552 5.3.4'],
  ['unsupported', '550 5.6.1'],
  ['limited', '451 4.7.1'],
  ['limited', '452 4.7.1', 'daily_cap_reached'],
  ['internal', '451 4.3.0'],
  ['unavailable', '451 4.3.0'],
]

for (const [kind, codes, code = kind] of kinds)
  test(`a message that is ${code} is answered with ${codes}, and the session goes on`, async (t) => {
    const { port } = await openFor(t, { accept: () => Promise.reject(refuse(kind, code)) })
    const talk = await talkTo(t, port)
    await talk.login()
    assert.equal(await submit(talk, 'x\r\n.\r\n'), `${codes} No: ${code}.`)
    assert.match((await submit(talk, 'x\r\n.\r\n')) ?? '', new RegExp(`^${codes}`))
  })

test('a bug in storing is a temporary failure that gives nothing away', async (t) => {
  const { port } = await openFor(t, {
    accept: () => {
      throw new Error('password of the database')
    },
  })
  const talk = await talkTo(t, port)
  await talk.login()
  const reply = await submit(talk, 'x\r\n.\r\n')
  assert.equal(reply, '451 4.3.0 Something went wrong on our side, try again later')
})

test('a message that cannot be stored in time is a temporary failure', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const [started, storing] = [held<void>(), held<{ id: string }>()]
  const { port, events } = await openFor(t, {
    accept: () => {
      started.release()
      return storing.promise
    },
  })
  const talk = await talkTo(t, port)
  await talk.login()
  const reply = submit(talk, 'x\r\n.\r\n')
  await started.promise
  t.mock.timers.tick(600_000)
  assert.match((await reply) ?? '', /^451 4\.3\.0/)
  assert.match((await talk.rest()).join(), /^421 4\.4\.2/)
  storing.release({ id: 'late' })
  await new Promise(setImmediate)
  assert.match(JSON.stringify(events.at(-1)), /relay\.accepted_late.*"id":"late"/)
})

test('a message that drips in for too long ends the connection', async (t) => {
  const { port, mails } = await openFor(t, { timeouts: { dataMs: 100 } })
  const talk = await talkTo(t, port)
  await talk.login()
  talk.send(`${envelope}half`)
  const drip = setInterval(() => talk.send('x'), 5)
  t.after(() => clearInterval(drip))
  for (let count = 0; count < 3; count += 1) await talk.reply()
  assert.match((await talk.rest()).join(), /^421 4\.4\.2/)
  assert.deepEqual(mails, [])
})

test('a client that drips is told from a slow one', () => {
  assert.equal(isTooSlow(0, 29_000), false)
  assert.equal(isTooSlow(2_000, 31_000), true)
  assert.equal(isTooSlow(4_000, 31_000), false)
  assert.equal(isTooSlow(10_000, 101_000), true)
})
