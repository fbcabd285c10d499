import assert from 'node:assert/strict'
import { createInterface } from 'node:readline'
import { describe, test } from 'node:test'
import { connect } from 'node:tls'
import { revokeKey } from '../../src/features/accounts/keys/queries.ts'
import { sql } from '../../src/kernel/sql.ts'
import { makeDatabase } from '../app.ts'
import { proxyTo } from '../stand-ins/cuttable-proxy.ts'
import { until } from '../until.ts'
import { aMail, type Failure, makeRelayApp } from './relay-app.ts'

const app = await makeRelayApp({ env: { POSTHORN_SMTPS_PORT: '0' } })

const crlf = (...lines: string[]) => lines.join('\r\n')

async function codesOf(key: string): Promise<string[]> {
  const { body } = await app.call('GET', '/api/v1/audit-logs?operation=email.send', { key })
  return body.data.map((line: { result: { code: string } }) => line.result.code)
}

describe('a login', () => {
  test('with a wrong key is refused', async () => {
    const { code, response } = await app.refused({}, 'phk_live_00000000000000000000000000wrong')
    assert.deepEqual([code, response.slice(0, 9)], ['EAUTH', '535 5.7.8'])
  })

  test('with a key that lacks the scope is refused, and the log says so', async () => {
    const { accountId, key } = await app.makeAccount()
    const other = await app.makeKey({ scopes: ['email.send'] }, accountId)
    const { response } = await app.refused({}, other.key)
    assert.match(response, /^535 5\.7\.8 The key lacks the scope smtp\.send/)
    assert.deepEqual(await codesOf(key), ['scope_missing'])
  })

  test('with a key that has only the scope passes', async () => {
    const { accountId } = await app.makeAccount()
    const { key } = await app.makeKey({ scopes: ['smtp.send'] }, accountId)
    await app.send({}, key)
    assert.equal((await app.stored(accountId)).length, 1)
  })

  test('takes any user name but an empty one', async () => {
    await app.mailer(app.key, { auth: { user: 'anybody', pass: app.key } }).sendMail(aMail)
    const socket = connect({ port: app.relay.securePort ?? 0, host: '127.0.0.1', rejectUnauthorized: false })
    const answers = createInterface(socket)[Symbol.asyncIterator]()
    await answers.next()
    socket.write(`HELO me\r\nAUTH PLAIN ${Buffer.from(`\0\0${app.key}`).toString('base64')}\r\n`)
    await answers.next()
    assert.match((await answers.next()).value, /^535 5\.7\.8 The user name is empty/)
    socket.destroy()
  })

  test('does not outlive its key', async () => {
    const { accountId } = await app.makeAccount()
    const { id, key } = await app.makeKey({}, accountId)
    const open = app.mailer(key, { pool: true, maxConnections: 1, maxMessages: 1_000 })
    await open.sendMail(aMail)
    await revokeKey(app.pools.db, id)
    // What a process knows of a key it forgets after a few seconds.
    const failure = await until(
      () =>
        open.sendMail(aMail).then(
          () => undefined,
          (error: Failure) => error,
        ),
      'the refusal',
    )
    assert.match(failure.response, /^530 5\.7\.0 The key is unknown, expired or revoked/)
  })

  test('over a connection that is not encrypted is refused', async () => {
    const bare = app.mailer(app.key, { ignoreTLS: true, requireTLS: false })
    await assert.rejects(
      bare.sendMail({ from: 'a@example.com', to: 'b@example.com' }),
      /530 5\.7\.0 Send STARTTLS first/,
    )
  })
})

describe('a key', () => {
  test('sends only from its domains, in the envelope and in the header', async () => {
    const { accountId, key } = await app.makeAccount()
    const bound = await app.makeKey({ senderDomains: ['example.com'] }, accountId)
    const envelope = (from: string) => ({ from, to: ['a@example.com'] })
    const outside = await app.refused({ envelope: envelope('x@other.example') }, bound.key)
    assert.match(outside.response, /^550 5\.7\.1 The key may not send from other\.example/)
    for (const from of ['x@other.example', 'shop@example.com <x@other.example>']) {
      const inside = await app.refused({ from, envelope: envelope('shop@example.com') }, bound.key)
      assert.match(inside.response, /^550 5\.7\.1 The key may not send from other\.example/)
    }
    await app.send({ envelope: envelope('') }, bound.key)
    assert.deepEqual(await codesOf(key), [null, 'sender_domain_not_allowed', 'sender_domain_not_allowed'])
  })

  test('names no sender outside its domains either, whoever else may', async () => {
    const { accountId, key } = await app.makeAccount()
    const bound = await app.makeKey({ senderDomains: ['example.com'] }, accountId)
    for (const name of ['Sender', 'Resent-From', 'Resent-Sender']) {
      const foreign = { headers: { [name]: 'Boss <ceo@evil.example>' } }
      const { response } = await app.refused(foreign, bound.key)
      assert.match(response, /^550 5\.7\.1 The key may not send from evil\.example/)
      await app.send(foreign, key)
    }
    const raw = crlf('From: shop@example.com', 'Sender: Boss', '', 'text')
    const envelope = { from: 'shop@example.com', to: ['a@example.com'] }
    const vague = await app.refused({ raw, envelope }, bound.key)
    assert.match(vague.response, /^550 5\.6\.0 The sender header must be an email address/)
    await app.send({ headers: { Sender: 'office@example.com (Office)' } }, bound.key)
    assert.equal((await app.stored(accountId)).length, 4)
  })

  test('sends as many as its cap allows, and a message to several whole or not at all', async () => {
    const { accountId } = await app.makeAccount()
    const capped = await app.makeKey({ dailyCap: 4 }, accountId)
    const three = { to: ['a@example.com', 'b@example.com', 'c@example.com'] }
    await app.send(three, capped.key)
    const { response } = await app.refused(three, capped.key)
    assert.match(
      response,
      /^452 4\.7\.1 The daily .* key, 4 messages, leaves 1 today, and this needs 3\. It resets at [-\d]+T00:00:00Z\.$/,
    )
    assert.equal((await app.stored(accountId)).length, 3)
    await app.send({}, capped.key)
    const spent = await app.refused({}, capped.key)
    const tomorrow = new Date(Math.ceil(Date.now() / 86_400_000) * 86_400_000)
      .toISOString()
      .replace('.000', '')
    assert.equal(spent.command, 'RCPT TO')
    assert.ok(
      spent.response.endsWith(
        `452 4.7.1 The daily sending cap of the key, 4 messages, is reached. It resets at ${tomorrow}.`,
      ),
      spent.response,
    )
    const { body } = await app.call('GET', '/api/v1/usage', { key: capped.key })
    assert.equal(body.key.used_today, 4)
  })

  test('of an account without quota left is told so at the recipient, with the month it waits for', async () => {
    const { accountId, key } = await app.makeAccount()
    await app.pools.db.run(sql`update accounts set monthly_quota = 1 where id = ${accountId}`)
    await app.send({}, key)
    const { command, response } = await app.refused({}, key)
    assert.equal(command, 'RCPT TO')
    assert.match(
      response,
      /^452 4\.7\.1 The monthly quota of the account is reached\. It resets at [-\d]+-01T00:00:00Z\.$/,
    )
  })

  test('at its cap among many at once: each message whole, and no more than the cap', async () => {
    const { accountId } = await app.makeAccount()
    const capped = await app.makeKey({ dailyCap: 7 }, accountId)
    const pair = { to: ['a@example.com', 'b@example.com'] }
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => app.send(pair, capped.key)))
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 3)
    assert.equal((await app.stored(accountId)).length, 6)
  })
})

describe('a recipient', () => {
  test('that is suppressed is refused by name; the others get the message', async () => {
    const { accountId, key } = await app.makeAccount()
    await app.call('POST', '/api/v1/suppressions', { key, body: { email: 'gone@example.com' } })
    const sent = await app.send({ to: ['Gone@example.com', 'here@example.com'] }, key)
    assert.deepEqual([sent.accepted, sent.rejected], [['here@example.com'], ['Gone@example.com']])
    const { response } = await app.refused({ to: 'gone@example.com' }, key)
    assert.match(response, /^550 5\.7\.1 gone@example\.com is on the suppression list \(manual\)/)
    assert.deepEqual(
      (await app.stored(accountId)).map(({ recipient, status }) => [recipient, status]),
      [['here@example.com', 'queued']],
    )
  })

  test('that no mail can reach is refused', async () => {
    for (const to of ['a@localhost', '"a b"@example.com', 'a@[127.0.0.1]']) {
      const { response } = await app.refused({ envelope: { from: 'shop@example.com', to: [to] } })
      assert.match(response, /^501 5\.1\.3/)
    }
  })
})

describe('a header', () => {
  const from = 'From: shop@example.com'
  const cases: Record<string, [string[], RegExp]> = {
    'without From': [['Subject: x'], /no From/],
    'with an empty From': [['From:'], /no From/],
    'with a From that is no address': [['From: Shop'], /must be an email address/],
    'with two addresses in From': [['From: a@example.com, b@example.com'], /must be an email address/],
    'with two addresses in brackets': [['From: <a@example.com> <b@example.com>'], /must be an email address/],
    'with two From': [[from, 'from : b@example.com'], /more than one from/],
    'with two Subject': [[from, 'Subject: a', 'Subject: b'], /more than one subject/],
    'outside ASCII': [[from, 'Subject: Grüße'], /outside printable ASCII/],
    'with a control character': [[from, 'Subject: a\u0007b'], /outside printable ASCII/],
    'with a line that is none': [[from, 'what is this'], /not a header field/],
    'that begins with a folded line': [[' folded', from], /not a header field/],
    'with a bad tag': [[from, 'X-Posthorn-Tag: no spaces'], /X-Posthorn-Tag must/],
    'with a long tag': [[from, `X-Mailin-Tag: ${'t'.repeat(65)}`], /X-Mailin-Tag must/],
    'with a bad X-Mail-Tag': [[from, 'X-Mail-Tag: no spaces'], /X-Mail-Tag must/],
    'with a bad X-Tag': [[from, 'X-Tag: no spaces'], /X-Tag must/],
    'with metadata that is no JSON': [[from, 'X-Mail-Metadata: order=7'], /X-Mail-Metadata must/],
    'with metadata that is no text': [[from, 'X-Mail-Metadata: {"order":7}'], /X-Mail-Metadata must/],
    'with long metadata': [[from, `X-Mail-Metadata: {"a":"${'b'.repeat(501)}"}`], /X-Mail-Metadata must/],
    'with NUL in metadata': [[from, 'X-Mail-Metadata: {"a":"\\u0000"}'], /metadata contains NUL/],
    'that asks for a template': [[from, 'X-SIB-API: {"templateId": 1}'], /Templates cannot/],
    'that went in circles': [[from, ...Array(51).fill('Received: by somebody')], /loop/],
    'with an empty idempotency key': [[from, 'Idempotency-Key:'], /1 to 255 characters/],
  }
  for (const [what, [lines, says]] of Object.entries(cases)) {
    test(`${what} is refused for good`, async () => {
      const { accountId, key } = await app.makeAccount()
      const raw = crlf(...lines, '', 'text')
      const envelope = { from: 'shop@example.com', to: ['a@example.com'] }
      const { response } = await app.refused({ raw, envelope }, key)
      assert.match(response, /^550 5\.6\.0 /)
      assert.match(response, says)
      assert.deepEqual(await app.stored(accountId), [])
      assert.deepEqual(await codesOf(key), ['invalid_parameter'])
    })
  }
})

test('a header line of 980 to 1000 characters is taken up to 998, and refused for good beyond', async () => {
  const { key } = await app.makeAccount()
  for (let length = 980; length <= 1_000; length++) {
    const value = 'x'.repeat(length - 'X-A: '.length)
    const raw = crlf('From: shop@example.com', 'To: anna@example.com', `X-A: ${value}`, '', 'Hi.')
    const mail = { raw, envelope: { from: 'shop@example.com', to: ['anna@example.com'] } }
    if (length <= 998) await app.send(mail, key)
    else assert.match((await app.refused(mail, key)).response, /^550 5\.6\.0 .*998/)
  }
})

test('a database that is away is told as a moment to try again', async () => {
  const proxy = await proxyTo(await makeDatabase())
  const cut = await makeRelayApp({ databaseUrl: proxy.url })
  const pooled = cut.mailer(cut.key, { pool: true, maxConnections: 1 })
  const mail = { from: 'shop@example.com', to: 'a@example.com', text: 'x' }
  await pooled.sendMail(mail)
  proxy.cut()
  await assert.rejects(pooled.sendMail(mail), /451 4\.3\.0/)
  await assert.rejects(cut.mailer().sendMail(mail), /451 4\.3\.0/)
  proxy.mend()
  await cut.mailer().sendMail(mail)
  assert.equal((await cut.stored()).length, 2)
})
