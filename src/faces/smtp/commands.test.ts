import assert from 'node:assert/strict'
import { test } from 'node:test'
import { certificate, openFor, plain, refuse, submit, talkTo } from './fixtures/testing.ts'

const from = 'MAIL FROM:<a@sender.test>'
const to = 'RCPT TO:<b@recipient.test>'

test('EHLO offers what the state of the connection allows', async (t) => {
  const tls = await certificate()
  const { port } = await openFor(t, { tls, allowPlainAuth: false })
  const talk = await talkTo(t, port)
  assert.equal(await talk.reply(), '220 relay.test ESMTP ready')
  const common = '250-relay.test\n250-PIPELINING\n250-8BITMIME\n250-ENHANCEDSTATUSCODES\n250'
  assert.equal(await talk.ask('ehlo client'), `${common}-SIZE 100000\n250 STARTTLS`)
  assert.equal(await talk.ask('HELO client'), '250 relay.test')
  assert.match((await talk.ask('STARTTLS')) ?? '', /^220 /)
  const secured = await talk.startTls()
  assert.equal(await secured.ask('EHLO client'), `${common}-SIZE 100000\n250 AUTH PLAIN LOGIN`)
  assert.match((await secured.ask('STARTTLS')) ?? '', /^503 5\.5\.1/)
  await secured.ask(`AUTH PLAIN ${plain('apikey', 'secret')}`)
  assert.equal(await secured.ask('EHLO client'), `${common} SIZE 100000`)
})

test('nothing is taken from a client that has not logged in', async (t) => {
  const { port, mails } = await openFor(t)
  const talk = await talkTo(t, port)
  await talk.reply()
  await talk.ask('EHLO c')
  for (const line of [from, to, 'DATA']) assert.match((await talk.ask(line)) ?? '', /^530 5\.7\.0/)
  assert.deepEqual(mails, [])
})

test('where TLS is required, nothing but STARTTLS leads on', async (t) => {
  const { port } = await openFor(t, { tls: await certificate(), allowPlainAuth: false })
  const talk = await talkTo(t, port)
  await talk.reply()
  await talk.ask('EHLO c')
  assert.match((await talk.ask(from)) ?? '', /^530 5\.7\.0 Send STARTTLS/)
  assert.match((await talk.ask(`AUTH PLAIN ${plain('apikey', 'secret')}`)) ?? '', /^538 5\.7\.11/)
})

test('what is sent behind STARTTLS in the clear is forgotten', async (t) => {
  const { port, logins } = await openFor(t, { tls: await certificate() })
  const talk = await talkTo(t, port)
  await talk.login()
  await talk.ask(from)
  talk.send(`STARTTLS\r\nEHLO evil\r\nAUTH PLAIN ${plain('evil', 'secret')}\r\n${from}\r\n`)
  assert.match((await talk.reply()) ?? '', /^220 /)
  const secured = await talk.startTls()
  assert.match((await secured.ask(`AUTH PLAIN ${plain('apikey', 'secret')}`)) ?? '', /^503 5\.5\.1 Send EHLO/)
  await secured.ask('EHLO c')
  assert.match((await secured.ask(from)) ?? '', /^530 /)
  assert.deepEqual(
    logins.map(({ user }) => user),
    ['apikey'],
  )
})

test('STARTTLS takes no argument and needs a certificate', async (t) => {
  const { port } = await openFor(t)
  const talk = await talkTo(t, port)
  await talk.reply()
  assert.match((await talk.ask('STARTTLS now')) ?? '', /^501 5\.5\.4/)
  assert.match((await talk.ask('STARTTLS')) ?? '', /^502 5\.5\.1/)
})

const outOfOrder: [string, string, RegExp][] = [
  ['EHLO without a name', 'EHLO', /^501 5\.5\.4/],
  ['RCPT without MAIL', to, /^503 5\.5\.1/],
  ['DATA without MAIL', 'DATA', /^503 5\.5\.1/],
  ['AUTH twice', `AUTH PLAIN ${plain('apikey', 'secret')}`, /^503 5\.5\.1/],
  ['NOOP', 'noop with words', /^250 2\.0\.0/],
  ['RSET', 'RSET', /^250 2\.0\.0/],
  ['VRFY', 'VRFY someone', /^252 /],
  ['HELP', 'HELP me', /^214 2\.0\.0/],
  ['EXPN', 'EXPN list', /^502 5\.5\.1/],
  ['TURN', 'TURN', /^502 5\.5\.1/],
  ['BDAT', 'BDAT 3 LAST', /^502 5\.5\.1/],
  ['an unknown command', 'FROB', /^500 5\.5\.2/],
  ['an inherited name', 'constructor', /^500 5\.5\.2/],
  ['an empty line', '', /^500 5\.5\.2/],
  ['a control character', 'NOOP \u0007', /^500 5\.5\.2/],
  ['a NUL', 'NOOP \0', /^500 5\.5\.2/],
  ['a bare CR', 'NOOP\rNOOP', /^500 5\.5\.2/],
]

for (const [name, line, expected] of outOfOrder)
  test(`${name} is answered with ${expected.source}`, async (t) => {
    const { port } = await openFor(t)
    const talk = await talkTo(t, port)
    await talk.login()
    assert.match((await talk.ask(line)) ?? '', expected)
    assert.match((await talk.ask('NOOP')) ?? '', /^250 /)
  })

const senders: [string, RegExp][] = [
  ['MAIL FROM:<>', /^250 2\.1\.0/],
  ['mail from: <a@sender.test> size=99999 body=8bitmime auth=<>', /^250 2\.1\.0/],
  ['MAIL FROM:<a@sender.test> SIZE=100001', /^552 5\.3\.4/],
  ['MAIL FROM:<a@sender.test> SIZE=ten', /^501 5\.5\.4/],
  ['MAIL FROM:<a@sender.test> BODY=BINARYMIME', /^501 5\.5\.4/],
  ['MAIL FROM:<a@sender.test> SMTPUTF8', /^555 5\.5\.4/],
  ['MAIL FROM:<a@sender.test> RET=HDRS', /^555 5\.5\.4/],
  ['MAIL FROM:<\u00c3\u00a9@sender.test>', /^553 5\.6\.7/],
  ['MAIL FROM:<nobody>', /^501 5\.1\.7/],
  ['MAIL TO:<a@sender.test>', /^501 5\.1\.7/],
]

for (const [line, expected] of senders)
  test(`${line} is answered with ${expected.source}`, async (t) => {
    const { port } = await openFor(t)
    const talk = await talkTo(t, port)
    await talk.login()
    assert.match((await talk.ask(line)) ?? '', expected)
  })

test('a second MAIL is refused, and RSET or EHLO forgets the first', async (t) => {
  const { port } = await openFor(t)
  const talk = await talkTo(t, port)
  await talk.login()
  await talk.ask(from)
  assert.match((await talk.ask(from)) ?? '', /^503 5\.5\.1/)
  assert.match((await talk.ask(`AUTH PLAIN ${plain('apikey', 'secret')}`)) ?? '', /^503 5\.5\.1/)
  await talk.ask('RSET')
  assert.match((await talk.ask(to)) ?? '', /^503 /)
  assert.match((await talk.ask(from)) ?? '', /^250 /)
  await talk.ask('EHLO c')
  assert.match((await talk.ask(from)) ?? '', /^250 /)
})

test('recipients are judged one by one', async (t) => {
  const { port, mails } = await openFor(t, {
    maxRecipients: 2,
    checkRecipient: async (session, address) => {
      assert.deepEqual(session, { user: 'apikey' })
      if (address.startsWith('suppressed')) throw refuse('refused', 'recipient_suppressed')
      if (address.startsWith('capped')) throw refuse('limited', 'daily_cap_reached')
      if (address.startsWith('bug')) throw new TypeError('oops')
    },
  })
  const talk = await talkTo(t, port)
  await talk.login()
  await talk.ask(from)
  const ask = async (address: string) => (await talk.ask(`RCPT TO:<${address}>`)) ?? ''
  assert.equal(await ask('suppressed@x.test'), '550 5.7.1 No: recipient_suppressed.')
  assert.equal(await ask('capped@x.test'), '452 4.7.1 No: daily_cap_reached.')
  assert.match(await ask('bug@x.test'), /^451 4\.3\.0 Something/)
  assert.match(await ask(''), /^501 5\.1\.3/)
  assert.match(await ask('a@x.test> NOTIFY=<NEVER'), /^555 5\.5\.4/)
  assert.match((await talk.ask('DATA')) ?? '', /^554 5\.5\.1/)
  assert.match(await ask('one@x.test'), /^250 2\.1\.5/)
  assert.match(await ask('two@x.test'), /^250 2\.1\.5/)
  assert.match(await ask('three@x.test'), /^452 4\.5\.3/)
  assert.match((await talk.ask('DATA')) ?? '', /^354 /)
  assert.match((await talk.ask('.')) ?? '', /^250 /)
  assert.deepEqual(mails[0]?.recipients, ['one@x.test', 'two@x.test'])
  assert.equal(mails[0]?.raw.length, 0)
})

test('the sender is judged, also the null sender', async (t) => {
  const seen: string[] = []
  const { port } = await openFor(t, {
    checkSender: async (_session, address) => {
      seen.push(address)
      if (address !== '') throw refuse('forbidden', 'sender_domain_not_allowed')
    },
  })
  const talk = await talkTo(t, port)
  await talk.login()
  assert.equal(await talk.ask(from), '550 5.7.1 No: sender_domain_not_allowed.')
  assert.match((await talk.ask(to)) ?? '', /^503 /)
  assert.match((await talk.ask('MAIL FROM:<>')) ?? '', /^250 /)
  assert.deepEqual(seen, ['a@sender.test', ''])
})

test('a message sent without waiting is not read as commands when DATA is refused', async (t) => {
  const { port, mails } = await openFor(t, {
    checkRecipient: async () => {
      throw refuse('refused')
    },
  })
  const talk = await talkTo(t, port)
  await talk.login()
  talk.send(`${from}\r\n${to}\r\nDATA\r\nSubject: x\r\n\r\nNOOP\r\n.\r\n`)
  const codes = (await talk.rest()).map((reply) => reply.slice(0, 3))
  assert.deepEqual(codes, ['250', '550', '554', '421'])
  assert.deepEqual(mails, [])
})

test('many messages go over one connection', async (t) => {
  const { port, mails } = await openFor(t, { maxRecipients: 1 })
  const talk = await talkTo(t, port)
  await talk.login()
  for (let count = 1; count <= 200; count += 1)
    assert.equal(await submit(talk, `number ${count}\r\n.\r\n`), `250 2.0.0 queued as msg_${count}`)
  assert.equal(mails[199]?.raw.toString(), 'number 200\r\n')
  assert.equal(new Set(mails.map(({ requestId }) => requestId)).size, 200)
})
