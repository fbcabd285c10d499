import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import nodemailer from 'nodemailer'
import { certificate, envelope, held, openFor, plain, refuse, submit, talkTo } from './fixtures/testing.ts'

const auth = { user: 'apikey', pass: 'secret' }
const letter = { from: 'a@sender.test', to: 'b@recipient.test', subject: 'Hello', text: 'One\n.two\n..three' }

const transport = (t: TestContext, options: object) => {
  const made = nodemailer.createTransport({
    host: '127.0.0.1',
    auth,
    tls: { rejectUnauthorized: false },
    ...options,
  })
  t.after(() => made.close())
  return made
}

test('a client sends a message over a bare connection where that is allowed', async (t) => {
  const { port, mails, logins } = await openFor(t)
  const sent = await transport(t, { port, ignoreTLS: true }).sendMail(letter)
  assert.equal(sent.response, '250 2.0.0 queued as msg_1')
  assert.equal(logins[0]?.user, 'apikey')
  assert.equal(logins[0]?.ip, '127.0.0.1')
  assert.equal(mails[0]?.envelopeFrom, 'a@sender.test')
  assert.deepEqual(mails[0]?.recipients, ['b@recipient.test'])
  assert.match(mails[0]?.raw.toString() ?? '', /\r\n\r\nOne\r\n\.two\r\n\.\.three\r\n$/)
  assert.match(mails[0]?.requestId ?? '', /^req_/)
})

test('a client sends a message after STARTTLS', async (t) => {
  const { port, mails } = await openFor(t, { tls: await certificate(), allowPlainAuth: false })
  await transport(t, { port, requireTLS: true }).sendMail(letter)
  assert.equal(mails.length, 1)
})

test('a client sends a message over implicit TLS', async (t) => {
  const tls = await certificate()
  const { securePort, mails } = await openFor(t, { tls, securePort: 0, allowPlainAuth: false })
  await transport(t, { port: securePort, secure: true, authMethod: 'LOGIN' }).sendMail(letter)
  assert.equal(mails.length, 1)
})

test('a pool of connections sends many messages, large ones too', async (t) => {
  const tls = await certificate()
  const { port, mails } = await openFor(t, { tls, maxBytes: 3_000_000 })
  const pool = transport(t, { port, pool: true, maxConnections: 5 })
  const texts = Array.from({ length: 50 }, (_, at) => `${at}:${'x'.repeat(at % 10 === 0 ? 1_000_000 : 10)}`)
  await Promise.all(texts.map((text) => pool.sendMail({ ...letter, text })))
  assert.equal(mails.length, 50)
})

test('the whole session may come in one write', async (t) => {
  const { port, mails } = await openFor(t)
  const talk = await talkTo(t, port)
  const message = `${envelope}Subject: x\r\n\r\nbody\r\n.\r\n`
  talk.send(`EHLO c\r\nAUTH PLAIN ${plain('apikey', 'secret')}\r\n${message}${message}QUIT\r\n`)
  const codes = (await talk.rest()).map((reply) => reply.slice(0, 3))
  assert.deepEqual(codes, [
    '220',
    '250',
    '235',
    '250',
    '250',
    '354',
    '250',
    '250',
    '250',
    '354',
    '250',
    '221',
  ])
  assert.deepEqual(
    mails.map(({ raw }) => raw.toString()),
    ['Subject: x\r\n\r\nbody\r\n', 'Subject: x\r\n\r\nbody\r\n'],
  )
})

test('the session may come octet by octet', async (t) => {
  const { port, mails } = await openFor(t)
  const talk = await talkTo(t, port)
  const session = `EHLO c\r\nAUTH PLAIN ${plain('apikey', 'secret')}\r\n${envelope}..a\r\n.b\r\n\r\n.\r\nQUIT\r\n`
  for (const octet of session) await new Promise((done) => talk.socket.write(octet, done))
  await talk.closed
  assert.equal(mails[0]?.raw.toString(), '.a\r\nb\r\n\r\n')
})

test('a client that closes its side still gets its replies', async (t) => {
  const { port, mails } = await openFor(t)
  const talk = await talkTo(t, port)
  talk.send(`EHLO c\r\nAUTH PLAIN ${plain('apikey', 'secret')}\r\n${envelope}hi\r\n.\r\n`)
  talk.socket.end()
  const replies = await talk.rest()
  assert.equal(replies.at(-1), '250 2.0.0 queued as msg_1')
  assert.equal(mails.length, 1)
})

test('a message is acknowledged only when it is stored, and the next one waits for that', async (t) => {
  const [first, started] = [held<void>(), held<void>()]
  const order: string[] = []
  const { port } = await openFor(t, {
    accept: async (_session, { raw }) => {
      order.push(`start ${raw}`.trim())
      started.release()
      await first.promise
      order.push(`stored ${raw}`.trim())
      return { id: 'x' }
    },
  })
  const talk = await talkTo(t, port)
  await talk.login()
  talk.send(`${envelope}one\r\n.\r\n${envelope}two\r\n.\r\nQUIT\r\n`)
  await started.promise
  for (let count = 0; count < 3; count += 1) await talk.reply()
  const other = await talkTo(t, port)
  await other.login()
  assert.deepEqual(order, ['start one'])
  first.release()
  assert.equal(await talk.reply(), '250 2.0.0 queued as x')
  await talk.closed
  assert.deepEqual(order, ['start one', 'stored one', 'start two', 'stored two'])
})

test('connections do not wait for each other', async (t) => {
  const slow = held<{ id: string }>()
  const { port } = await openFor(t, {
    accept: (_session, { raw }) => (raw.includes('slow') ? slow.promise : Promise.resolve({ id: 'fast' })),
  })
  const [one, two] = [await talkTo(t, port), await talkTo(t, port)]
  await Promise.all([one.login(), two.login()])
  const first = submit(one, 'slow\r\n.\r\n')
  assert.equal(await submit(two, 'quick\r\n.\r\n'), '250 2.0.0 queued as fast')
  slow.release({ id: 'slow' })
  assert.equal(await first, '250 2.0.0 queued as slow')
})

test('a client that vanishes in the middle of a message leaves nothing behind', async (t) => {
  const { port, mails, close } = await openFor(t)
  for (const leave of ['end', 'resetAndDestroy'] as const) {
    const talk = await talkTo(t, port)
    await talk.login()
    talk.send(`${envelope}half a message\r\n`)
    for (let count = 0; count < 3; count += 1) await talk.reply()
    talk.socket[leave]()
    await talk.closed
  }
  await close()
  assert.deepEqual(mails, [])
})

test('closing lets a message under way finish and tells the idle clients', async (t) => {
  const [storing, started] = [held<{ id: string }>(), held<void>()]
  const { port, close } = await openFor(t, {
    accept: () => {
      started.release()
      return storing.promise
    },
  })
  const [busy, idle, sending] = [await talkTo(t, port), await talkTo(t, port), await talkTo(t, port)]
  await Promise.all([busy.login(), sending.login(), idle.reply()])
  sending.send(`${envelope}half`)
  for (let count = 0; count < 3; count += 1) await sending.reply()
  const answer = submit(busy, 'x\r\n.\r\n')
  await started.promise
  const closing = close()
  assert.match((await idle.rest()).join(), /^421 4\.3\.2/)
  assert.match((await sending.rest()).join(), /^421 4\.3\.2/)
  for (const { socket } of [idle, sending]) socket.end()
  storing.release({ id: 'kept' })
  assert.equal(await answer, '250 2.0.0 queued as kept')
  assert.match((await busy.rest()).join(), /^421 4\.3\.2/)
  busy.socket.end()
  await closing
})

test('closing does not wait for ever', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const started = held<void>()
  const { port, close } = await openFor(t, {
    accept: () => {
      started.release()
      return new Promise(() => undefined)
    },
  })
  const talk = await talkTo(t, port)
  await talk.login()
  void submit(talk, 'x\r\n.\r\n')
  await started.promise
  const closing = close()
  t.mock.timers.tick(5_000)
  await closing
  await talk.closed
})

test('a secure port without a certificate is refused at the start', async (t) => {
  await assert.rejects(openFor(t, { securePort: 0 }), /certificate/)
})

test('a taken port is reported, and the other one is given back', async (t) => {
  const tls = await certificate()
  const { port } = await openFor(t)
  await assert.rejects(openFor(t, { tls, securePort: port }), { code: 'EADDRINUSE' })
})

test('neither passwords nor messages are logged', async (t) => {
  const { port, events } = await openFor(t, {
    accept: async (_session, { raw }) => {
      if (raw.includes('fail')) throw new Error(`cannot store ${raw}`)
      if (raw.includes('no')) throw refuse('refused')
      return { id: 'x' }
    },
    log: (event) => {
      events.push(event)
      throw new Error('the log is full')
    },
  })
  const talk = await talkTo(t, port)
  await talk.reply()
  await talk.ask('EHLO c')
  await talk.ask(`AUTH PLAIN ${plain('apikey', 'wrong horse')}`)
  await talk.ask(`AUTH PLAIN ${plain('apikey', 'secret')}`)
  for (const word of ['horse', 'fail horse', 'no horse']) await submit(talk, `${word}\r\n.\r\n`)
  const names = events.map((event) => 'event' in event && event.event)
  assert.deepEqual(names, ['relay.refused', 'relay.login', 'relay.accepted', 'relay.error', 'relay.refused'])
  assert.doesNotMatch(JSON.stringify(events), /horse|secret/)
})
