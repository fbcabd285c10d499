import assert from 'node:assert/strict'
import { isAscii } from 'node:buffer'
import { describe, test } from 'node:test'
import { until } from '../until.ts'
import { aMail, makeRelayApp } from './relay-app.ts'

const app = await makeRelayApp({ deliver: true })

async function fresh() {
  const account = await app.makeAccount()
  return { ...account, stored: () => app.stored(account.accountId) }
}

async function messagesOf(key: string) {
  return (await app.call('GET', '/api/v1/messages', { key })).body.data
}

const crlf = (...lines: string[]) => lines.join('\r\n')

describe('a message over the relay', () => {
  test('is there when the client is told so, with what its header says', async () => {
    const { key, stored } = await fresh()
    const subject = 'Grüße aus Köln'
    const sent = await app.send({ subject, from: '"Bücher, alte" <shop@Example.com>' }, key)
    const [one, ...others] = await stored()
    assert.deepEqual(others, [])
    assert.equal(sent.response, `250 2.0.0 queued as msg_${one?.id.replaceAll('-', '')}`)
    const [message] = await messagesOf(key)
    assert.deepEqual(
      [message.from, message.to, message.subject, message.source, message.tag, message.metadata],
      ['Bücher, alte <shop@example.com>', 'anna@example.com', subject, 'smtp', null, {}],
    )
  })

  test('to three, one of them blind, is three messages without a trace of the blind one', async () => {
    const { key, stored } = await fresh()
    const sent = await app.send({ to: ['Anna@example.com', 'bo@example.com'], bcc: 'eve@example.com' }, key)
    assert.match(sent.response, /^250 2\.0\.0 queued as msg_\w+ msg_\w+ msg_\w+$/)
    const rows = await stored()
    assert.deepEqual(rows.map(({ recipient }) => recipient).sort(), [
      'anna@example.com',
      'bo@example.com',
      'eve@example.com',
    ])
    for (const { raw } of rows) assert.doesNotMatch(raw, /^bcc|eve@/im)
    assert.equal((await app.call('GET', '/api/v1/usage', { key })).body.key.used_today, 3)
  })

  test('named twice in the envelope, a recipient gets it once', async () => {
    const { key, stored } = await fresh()
    const envelope = { from: 'shop@example.com', to: ['a@example.com', 'A@Example.COM', 'a@example.com'] }
    await app.send({ envelope }, key)
    assert.equal((await stored()).length, 1)
  })

  test('arrives as it was sent, byte for byte, apart from what the relay removes and adds', async () => {
    const { accountId, key } = await fresh()
    const head = [
      'From: "Shop',
      '\tand more"',
      '\t<shop@example.com>',
      'To: x@example.com',
      'Subject: folded',
      '\tsubject  with spaces',
    ]
    const kept = [
      ...head,
      'X-Custom: yes',
      'Date: Sun, 15 Nov 2026 10:00:00 +0100',
      'Message-ID: <a1@example.com>',
    ]
    const body = ['', '.dot first', '..two', 'Bcc: not a header', 'two at the end  ', '', '', 'end']
    const removed = [
      'Bcc: eve@example.com,',
      ' more@example.com',
      'Return-Path: <x@example.com>',
      'X-Posthorn-Tag: invoice',
      'X-SES-Configuration-Set: mine',
      'X-Mailin-custom: order:7|user:9',
      'sender.ip: 1.2.3.4',
    ]
    const raw = crlf(...removed, ...kept, 'MIME-Version: 1.0', ...body, '')
    await app.send({ raw, envelope: { from: 'shop@example.com', to: ['x@example.com'] } }, key)
    const captured = await until(async () => (await app.captured(accountId))[0], 'the capture')
    const [received, how, date, ...rest] = captured.toString('utf8').split('\r\n')
    assert.equal(received, 'Received: by [127.0.0.1]')
    assert.match(how ?? '', /^ \(Posthorn\) with ESMTPSA id req_\w{32};$/)
    assert.ok(`${how}`.length <= 78)
    assert.match(date ?? '', /^ \w{3}, \d\d \w{3} \d{4} [\d:]{8} \+0000$/)
    assert.equal(rest.join('\r\n'), crlf(...kept, 'MIME-Version: 1.0', ...body, ''))
    const [message] = await messagesOf(key)
    assert.deepEqual(
      [message.tag, message.metadata, message.message_id, message.from, message.subject],
      [
        ...['invoice', { 'X-Mailin-custom': 'order:7|user:9' }, '<a1@example.com>'],
        ...['Shop and more <shop@example.com>', 'folded subject  with spaces'],
      ],
    )
  })

  test('with octets that not every mail server takes goes on without them, and says the same', async () => {
    const { accountId, key } = await fresh()
    const off = ['X-Posthorn-Track-Opens: false', 'X-Posthorn-Track-Clicks: false']
    const type = ['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: 8bit']
    const raw = crlf('From: shop@example.com', ...off, ...type, '', 'naïve 8-bit  ', '', 'end')
    await app.send({ raw, envelope: { from: 'shop@example.com', to: ['x@example.com'] } }, key)
    const captured = await until(async () => (await app.captured(accountId))[0], 'the capture')
    assert.ok(isAscii(captured))
    assert.match(
      captured.toString(),
      /\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nna=C3=AFve 8-bit =20\r\n\r\nend\r\n$/,
    )
  })

  test('without Date, Message-ID and MIME-Version gets them', async () => {
    const { key, stored } = await fresh()
    const raw = crlf('From: shop@example.com', 'Subject: bare', 'X-Mailin-Tag: old tag', '', 'text')
    await app.send({ raw, envelope: { from: '', to: ['x@example.com'] } }, key)
    const [one] = await stored()
    assert.match(
      one?.raw ?? '',
      /\r\nDate: .* \+0000\r\nMessage-ID: <\w{32}@example\.com>\r\nMIME-Version: 1\.0\r\n\r\n/,
    )
    const [message] = await messagesOf(key)
    assert.ok(one?.raw.includes(message.message_id))
    assert.equal(message.tag, 'old tag')
  })

  test('is marked by control headers, which go no further', async () => {
    const { key, stored } = await fresh()
    const metadata = { order: '7', name: 'Grüße' }
    const headers = { 'X-Mail-Tag': 'invoice', 'X-Mail-Metadata': JSON.stringify(metadata) }
    await app.send({ headers: { ...headers, 'X-Tag': 'other', 'X-Mailin-custom': 'c' } }, key)
    await app.send({ headers: { 'X-Tag': 'plain' } }, key)
    const [second, first] = await messagesOf(key)
    assert.deepEqual([first.tag, first.metadata], ['invoice', { ...metadata, 'X-Mailin-custom': 'c' }])
    assert.deepEqual([second.tag, second.metadata], ['plain', {}])
    for (const { raw } of await stored()) assert.doesNotMatch(raw, /^x-(?:mail-|mailin|tag)/im)
  })

  test('that is for nobody (X-Sib-Sandbox: drop) is answered and neither kept nor sent', async () => {
    const { key, stored } = await fresh()
    const headers = { 'X-Sib-Sandbox': 'drop' }
    const sent = await app.send({ headers, to: ['anna@example.com', 'bo@example.com'] }, key)
    assert.match(sent.response, /^250 2\.0\.0 queued as msg_\w+ msg_\w+$/)
    await assert.rejects(app.send({ headers: { ...headers, 'X-SIB-API': '{}' } }, key), /Templates cannot/)
    assert.deepEqual(await stored(), [])
    assert.equal((await app.call('GET', '/api/v1/usage', { key })).body.key.used_today, 0)
    await app.send({ headers: { 'X-Sib-Sandbox': 'off' } }, key)
    assert.equal((await stored()).length, 1)
  })

  test('has one pixel, however many halves its HTML has', async () => {
    const { key, stored, accountId } = await fresh()
    const half = ['Content-Type: text/html', '', '<p><a href="https://shop.example/">Hello</a></p>', '']
    const head = [
      'From: shop@example.com',
      'Subject: halves',
      'Content-Type: multipart/mixed; boundary=b',
      '',
    ]
    const raw = [...head, '--b', ...half, '--b', ...half, '--b--', ''].join('\r\n')
    await app.send({ raw, envelope: { from: 'shop@example.com', to: ['anna@example.com'] } }, key)
    assert.equal((await stored()).length, 1)
    const [text] = await until(async () => {
      const captured = await app.captured(accountId)
      return captured.length === 1 && captured.map(String)
    }, 'the capture')
    const plain = text?.replaceAll('=\r\n', '') ?? ''
    assert.deepEqual([plain.match(/href=/g)?.length, plain.match(/\.gif/g)?.length], [2, 1])
    assert.doesNotMatch(plain, /shop\.example\/"/)
  })

  test('has its HTML tracked, unless it says otherwise', async () => {
    const { accountId, key } = await fresh()
    const html = '<body>Hello <a href="https://shop.example/order/7">your order</a></body>'
    const mail = { html, text: 'Hello https://shop.example/order/7', to: 'anna@example.com' }
    const off = { 'X-Posthorn-Track-Opens': 'false', 'X-Posthorn-Track-Clicks': 'false' }
    await app.send({ ...mail, subject: 'tracked' }, key)
    await app.send({ ...mail, subject: 'left alone', headers: off }, key)
    const texts = await until(async () => {
      const captured = await app.captured(accountId)
      return captured.length === 2 && captured.map(String)
    }, 'both captures')
    const [tracked, alone] = ['tracked', 'left alone'].map((subject) =>
      texts.find((text) => text.includes(`Subject: ${subject}`))?.replaceAll('=\r\n', ''),
    )
    assert.match(tracked ?? '', /href=(?:3D)?"http:\/\/test\/t\/[\w-]+"/)
    assert.match(tracked ?? '', /src=(?:3D)?"http:\/\/test\/t\/[\w-]+\.gif"/)
    assert.match(tracked ?? '', /Hello https:\/\/shop\.example\/order\/7/)
    assert.doesNotMatch(alone ?? '', /\/t\/|X-Posthorn/)
    const [refused] = await Promise.allSettled([
      app.send({ ...mail, headers: { 'X-Posthorn-Track-Opens': 'maybe' } }, key),
    ])
    assert.match(String('reason' in refused && refused.reason), /must be true or false/)
  })

  test('leaves a line in the action log that names the act and holds no content', async () => {
    const { key } = await fresh()
    await app.send({ subject: 'private subject', text: 'private text' }, key)
    const { body, text } = await app.call('GET', '/api/v1/audit-logs?operation=email.send', { key })
    assert.deepEqual(body.data[0].params, {
      envelope_from: 'shop@example.com',
      recipients: ['anna@example.com'],
    })
    assert.deepEqual([body.data[0].result, body.data[0].ip], [{ status: 202, code: null }, '127.0.0.1'])
    assert.doesNotMatch(text, /private/)
  })
})

describe('an idempotency key in the header', () => {
  const keyed = (name: string, value: string, more = {}) => ({
    ...aMail,
    headers: { [name]: value },
    ...more,
  })

  test('makes a second sending of the same mail the first one again', async () => {
    const { key, stored } = await fresh()
    const first = await app.send(keyed('Idempotency-Key', 'order-1'), key)
    for (const name of ['X-Posthorn-Idempotency-Key', 'X-Mail-Idempotency-Key']) {
      const again = await app.send(keyed(name, 'order-1'), key)
      assert.equal(again.response, first.response)
    }
    const rows = await stored()
    assert.equal(rows.length, 1)
    assert.doesNotMatch(rows[0]?.raw ?? '', /idempotency/i)
  })

  test('refuses another mail under the same key', async () => {
    const { key, stored } = await fresh()
    await app.send(keyed('Idempotency-Key', 'order-2'), key)
    for (const other of [{ text: 'Other.' }, { to: 'other@example.com' }, { subject: 'Other' }]) {
      const { response } = await app.refused(keyed('Idempotency-Key', 'order-2', other), key)
      assert.match(response, /^550 5\.6\.0 This Idempotency-Key was used with another body/)
    }
    assert.equal((await stored()).length, 1)
  })
})
