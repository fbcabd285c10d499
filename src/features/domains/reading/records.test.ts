import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startDnsServer, type Zone } from '../../../../test/stand-ins/dns-server.ts'
import { openDns } from '../../../adapters/system-dns/system-dns.ts'
import { readCname } from './read-cname.ts'
import { readMailHost } from './read-mail-host.ts'
import { readMx } from './read-mx.ts'
import { readToken } from './read-token.ts'

const mx = (exchange: string, priority = 10) => ({ exchange, priority })
const zone: Zone = {
  'good.example CNAME': ['Track.Posthorn.example'],
  'chained.example CNAME': ['second.chained.example'],
  'second.chained.example CNAME': ['third.chained.example'],
  'third.chained.example CNAME': ['Track.Posthorn.example'],
  'astray.example CNAME': ['second.astray.example'],
  'second.astray.example CNAME': ['elsewhere.example'],
  'round.example CNAME': ['second.round.example'],
  'second.round.example CNAME': ['round.example'],
  'half.example CNAME': ['second.half.example'],
  'second.half.example CNAME': 'fails',
  'appended.example CNAME': ['track.posthorn.example.appended.example'],
  'flat.example A': ['192.0.2.1'],
  'failing.example CNAME': 'fails',
  'silent.example CNAME': 'silent',
  'text.example TXT': ['v=spf1 ~all', 'posthorn=abc', 'posthorn=other'],
  'another.example TXT': ['posthorn=other'],
  'failing.example TXT': 'fails',
  'one.example MX': [mx('IN.posthorn.example')],
  'two.example MX': [mx('in.posthorn.example'), mx('mx.two.example', 20)],
  'null.example MX': [mx('.', 0)],
  'failing.example MX': 'fails',
  'unknown.example A': 'fails',
}
const dns = openDns({ servers: [await startDnsServer(zone)] })

describe('an alias', () => {
  const read = (host: string) => readCname(dns, { host, target: 'track.posthorn.example.' })
  const states = {
    good: 'ok',
    gone: 'missing',
    flat: 'mismatch',
    appended: 'mismatch',
    chained: 'ok',
    astray: 'mismatch',
    round: 'mismatch',
    half: 'unreadable',
    failing: 'unreadable',
    silent: 'unreadable',
  }

  for (const [name, state] of Object.entries(states))
    test(`is ${state} (${name})`, async () => assert.equal((await read(`${name}.example`)).state, state))

  test('says what to do', async () => {
    assert.match(
      (await read('appended.example')).explanation,
      /with a dot at its end\. Publish a CNAME record at/,
    )
    assert.match((await read('flat.example')).explanation, /addresses of its own/)
  })
})

describe('the one mail server of a host', () => {
  const read = (host: string) => readMx(dns, { host, exchange: 'in.posthorn.example', priority: 10 })
  const states = { one: 'ok', two: 'multiple', gone: 'missing', null: 'mismatch', failing: 'unreadable' }

  for (const [name, state] of Object.entries(states))
    test(`is ${state} (${name})`, async () => assert.equal((await read(`${name}.example`)).state, state))

  test('may have another priority', async () => {
    const got = await readMx(dns, { host: 'one.example', exchange: 'in.posthorn.example', priority: 5 })
    assert.deepEqual(
      [got.state, got.remarks[0]?.code, got.found],
      ['ok', 'other_priority', ['10 IN.posthorn.example']],
    )
  })
})

describe('a token', () => {
  const read = (host: string) => readToken(dns, { host, value: 'posthorn=abc' })
  const states = { text: 'ok', another: 'mismatch', gone: 'missing', failing: 'unreadable' }

  for (const [name, state] of Object.entries(states))
    test(`is ${state} (${name})`, async () => assert.equal((await read(`${name}.example`)).state, state))

  test('is missing among other texts', async () => {
    const got = await readToken(dns, { host: 'text.example', value: 'unheard=of' })
    assert.deepEqual([got.state, got.found.length], ['missing', 3])
  })
})

describe('where a domain takes mail', () => {
  const states = {
    one: 'ok',
    flat: 'ok',
    null: 'mismatch',
    gone: 'missing',
    failing: 'unreadable',
    unknown: 'unreadable',
  }

  for (const [name, state] of Object.entries(states))
    test(`is ${state} (${name})`, async () =>
      assert.equal((await readMailHost(dns, `${name}.example`)).state, state))

  test('may be its address, with a remark', async () => {
    assert.equal((await readMailHost(dns, 'flat.example')).remarks[0]?.code, 'no_mx')
  })
})
