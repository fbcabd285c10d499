import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startDnsServer } from '../../../test/stand-ins/dns-server.ts'
import { openDns } from './system-dns.ts'

const asked: string[] = []
const slowMs = 1_200
const long = 'z'.repeat(3_000)
const zone = {
  'a.example TXT': ['one', ['tw', 'o']],
  'a.example A': ['192.0.2.1'],
  'a.example AAAA': ['2001:db8::1'],
  'half.example A': 'fails' as const,
  'half.example AAAA': ['2001:db8::2'],
  'alias.example CNAME': ['chain.example'],
  'chain.example CNAME': ['a.example'],
  'loop.example CNAME': ['pool.example'],
  'pool.example CNAME': ['loop.example'],
  'dangling.example CNAME': ['nowhere.example'],
  'long.example TXT': [long],
  'slow.example TXT': ['late'],
  'silent.example TXT': 'silent' as const,
  'failing.example TXT': 'fails' as const,
  'null.example MX': [{ exchange: '.', priority: 0 }],
  'deep.below.example MX': [{ exchange: 'mx.example', priority: 5 }],
}
const dns = openDns({
  servers: [await startDnsServer(zone, { asked, delayMs: { 'slow.example TXT': slowMs } })],
})

describe('the resolver', () => {
  test('joins the strings of a text and follows aliases', async () => {
    assert.deepEqual(await dns.txt('a.example'), ['one', 'two'])
    assert.deepEqual(await dns.txt('alias.example'), ['one', 'two'])
    assert.deepEqual(await dns.cname('alias.example'), ['chain.example'])
    assert.deepEqual(await dns.mx('null.example'), [{ exchange: '', priority: 0 }])
  })

  test('asks again over TCP when an answer was cut', async () => {
    asked.length = 0
    assert.deepEqual(await dns.txt('long.example'), [long])
    assert.deepEqual(asked, ['long.example TXT', 'long.example TXT'])
  })

  test('cannot read what is too long where there is no TCP', async () => {
    const cut = openDns({ servers: [await startDnsServer(zone, { tcp: false })], timeoutMs: 1_000 })
    assert.equal(await cut.txt('long.example'), 'unreadable')
  })

  test('tells no such name and no such record from no answer', async () => {
    assert.equal(await dns.txt('nowhere.example'), 'none')
    assert.equal(await dns.mx('a.example'), 'none')
    assert.equal(await dns.txt('dangling.example'), 'none')
    assert.equal(await dns.txt('failing.example'), 'unreadable')
    assert.equal(await dns.txt('loop.example'), 'unreadable')
  })

  test('gives addresses of both kinds, and those of one when the other cannot be read', async () => {
    assert.deepEqual(await dns.addresses('a.example'), ['192.0.2.1', '2001:db8::1'])
    assert.deepEqual(await dns.addresses('half.example'), ['2001:db8::2'])
    assert.equal(await dns.addresses('nowhere.example'), 'none')
  })

  test('knows whether a name exists, be it without records of its own', async () => {
    const names = ['a.example', 'below.example', 'nowhere.example', 'half.example']
    assert.deepEqual(await Promise.all(names.map(dns.exists)), [true, true, false, 'unreadable'])
  })

  test('waits for a slow zone behind a resolver that has always been fast', async () => {
    for (let i = 0; i < 10; i++) await dns.txt('a.example')
    const begun = performance.now()
    assert.deepEqual(await dns.txt('slow.example'), ['late'])
    const took = performance.now() - begun
    assert.ok(took < slowMs + 300, `${took} ms`)
  })

  test('gives up on silence when the time is over', async () => {
    const brief = openDns({ servers: [await startDnsServer(zone)], timeoutMs: 300 })
    const begun = performance.now()
    assert.equal(await brief.txt('silent.example'), 'unreadable')
    const took = performance.now() - begun
    assert.ok(took < 1_000, `${took} ms`)
  })

  test('asks nothing for what is no name', async () => {
    asked.length = 0
    for (const name of ['', 'a..b', 'a\0.example', 'a b', 'a\\.b', `${'x'.repeat(64)}.example`, '%'])
      assert.deepEqual([await dns.txt(name), await dns.exists(name)], ['none', false], name)
    assert.deepEqual(asked, [])
  })
})
