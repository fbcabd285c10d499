import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSmtpUrl } from './smtp-url.ts'

test('an address without options has sensible ones', () => {
  assert.deepEqual(parseSmtpUrl('smtp://Mail.Example.com'), {
    host: 'mail.example.com',
    port: 25,
    tls: 'opportunistic',
    credentials: null,
    connections: 10,
    messages: 100,
    name: null,
  })
})

test('an address says all there is to say', () => {
  const url = 'smtp://us%40er:p%2F%3A%3Fss@[::1]:2525/?connections=200&messages=7&name=a.example&tls=off'
  assert.deepEqual(parseSmtpUrl(url), {
    host: '::1',
    port: 2525,
    tls: 'off',
    credentials: { user: 'us@er', password: 'p/:?ss' },
    connections: 200,
    messages: 7,
    name: 'a.example',
  })
})

test('a password goes over the wire in the clear only to this machine, or when that is asked for', () => {
  const tlsOf = (url: string) => parseSmtpUrl(url).tls
  assert.equal(tlsOf('smtp://u:p@mail.example.com'), 'required')
  assert.equal(tlsOf('smtp://u:p@localhost'), 'opportunistic')
  assert.equal(tlsOf('smtp://u:p@127.0.0.2'), 'opportunistic')
  assert.equal(tlsOf('smtp://u:p@127.example.com'), 'required')
  assert.equal(tlsOf('smtp://u:p@mail.example.com?tls=off'), 'off')
  assert.equal(tlsOf('smtp://mail.example.com?tls=required'), 'required')
  assert.equal(tlsOf('smtps://mail.example.com'), 'implicit')
  assert.equal(tlsOf('smtps://mail.example.com?tls=required'), 'implicit')
})

test('the port follows from the rest', () => {
  assert.equal(parseSmtpUrl('smtps://u:p@mail.example.com').port, 465)
  assert.equal(parseSmtpUrl('smtp://u:p@mail.example.com').port, 587)
})

test('what is wrong with an address is said without repeating its password', () => {
  const cases: [string, RegExp][] = [
    ['', /must look like smtp:/],
    ['mail.example.com:25', /must look like smtp:/],
    ['https://u:secret@mail.example.com', /must look like smtp:/],
    ['smtp://', /no valid host name/],
    ['smtp://exa%20mple', /no valid host name/],
    ['smtp://u:secret@h/x', /takes nothing behind host and port/],
    ['smtp://u:secret@h#x', /takes nothing behind host and port/],
    ['smtp://h:0', /port 0/],
    ['smtp://h:99999', /must look like smtp:/],
    ['smtp://user@h', /both a user and a password/],
    ['smtp://:secret@h', /both a user and a password/],
    ['smtp://u:secret%@h', /the password .* is not percent-encoded/],
    ['smtp://u:secret%00@h', /the password .* has a control character/],
    ['smtp://h?connections=0', /"connections" .* from 1 to 200/],
    ['smtp://h?connections=201', /"connections" .* from 1 to 200/],
    ['smtp://h?messages=1.5', /"messages" .* whole number/],
    ['smtp://h?connections=1&connections=2', /"connections" twice/],
    ['smtp://h?name=a%20b', /"name" .* must be a host name/],
    ['smtp://h?name=', /"name" .* must be a host name/],
    ['smtp://h?tls=maybe', /"tls" .* must be required, opportunistic or off/],
    ['smtps://h?tls=off', /contradicts smtps/],
    ['smtp://h?insecure=1', /unknown option "insecure" \(there are: connections, messages, name, tls\)/],
  ]
  for (const [url, reason] of cases) {
    assert.throws(
      () => parseSmtpUrl(url),
      (error: Error) => {
        assert.match(error.message, reason)
        assert.doesNotMatch(error.message, /secret|\n/)
        return true
      },
      url,
    )
  }
})
