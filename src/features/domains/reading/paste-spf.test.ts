// The record that a person is given to paste: it works, and nobody who sends is dropped unsaid.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startDnsServer, type Zone } from '../../../../test/stand-ins/dns-server.ts'
import { openDns } from '../../../adapters/system-dns/system-dns.ts'
import { readSpf } from './read-spf.ts'

const zone: Zone = {
  'up.example TXT': ['v=spf1 ip4:192.0.2.0/24 -all'],
  'wide.example TXT': ['v=spf1 a:up.example a:up.example a:up.example ?all'],
  'up.example A': ['192.0.2.1'],
  'other.example TXT': ['v=spf1 ip4:198.51.100.1 -all'],
  'broken.example TXT': ['v=spf1 ipv9:1 -all'],
  'half.example TXT': ['v=spf1 ip4:198.51.100.2 include:nowhere.example -all'],
  'down.example TXT': 'fails',
}
for (let i = 0; i < 10; i++) zone[`ten${i}.example TXT`] = ['v=spf1 ?all']
const dns = openDns({ servers: [await startDnsServer(zone)] })
const tens = (n: number) => Array.from({ length: n }, (_, i) => `include:ten${i}.example`).join(' ')

let made = 0
async function read(records: string[] | 'fails', wanted: { include?: string[]; ip?: string[] } = {}) {
  const domain = `p${++made}.example`
  zone[`${domain} TXT`] = records
  const { include = ['up.example'], ip = [] } = wanted
  const got = await readSpf(dns, { domain, include, ip })
  if (got.paste) {
    zone[`${domain} TXT`] = [got.paste]
    const after = await readSpf(dns, { domain, include, ip })
    assert.ok(after.state === 'ok' || after.state === 'unreadable', `${got.paste}: ${after.explanation}`)
    if (got.state !== 'ok' && got.state !== 'unreadable') assert.ok(got.explanation.endsWith(` ${got.paste}`))
  }
  return got
}

const pastes = async (records: string[], paste: string | null | undefined, state: string) => {
  const got = await read(records)
  assert.deepEqual([got.state, got.paste], [state, paste], got.explanation)
  return got.explanation
}

const address = { include: [], ip: ['203.0.113.9'] }

test('what gives no answer may not authorise ours: ours then stand in the record themselves', async () => {
  const two = ['v=spf1 include:down.example -all', 'v=spf1 include:other.example -all']
  const merged = await read(two, address)
  assert.equal(merged.paste, 'v=spf1 ip4:203.0.113.9 include:down.example include:other.example -all')
  const mended = await read(['v=spf1 include:down.example ipv4:192.0.2.7 ~all'], address)
  assert.equal(mended.paste, 'v=spf1 ip4:203.0.113.9 include:down.example ip4:192.0.2.7 ~all')
})

test('what one record shuts out and another lets in is let in', async () => {
  const two = ['v=spf1 -ip4:203.0.113.7 ip4:203.0.113.0/24 ~all', 'v=spf1 ip4:203.0.113.7 ~all']
  const { paste } = await read(two, address)
  assert.equal(paste, 'v=spf1 ip4:203.0.113.0/24 ip4:203.0.113.7 -ip4:203.0.113.7 ~all')
})

test('records of which one names no end do not agree on that of the other', async () => {
  const { paste } = await read(['v=spf1 ip4:203.0.113.9', 'v=spf1 include:other.example -all'], address)
  assert.equal(paste, 'v=spf1 ip4:203.0.113.9 include:other.example ~all')
})

describe('a record that is right or not there', () => {
  test('stays as it is; where there is none, there is nothing to keep', async () => {
    const standing = 'v=spf1 a:up.example include:other.example include:up.example -all'
    await pastes([standing], standing, 'ok')
    await pastes([], undefined, 'missing')
    const [quoted, semicolon] = ['"v=spf1 include:other.example -all"', 'v=spf1; include:other.example; ~all']
    await pastes([quoted], 'v=spf1 include:up.example include:other.example -all', 'missing')
    await pastes([semicolon], 'v=spf1 include:up.example include:other.example ~all', 'missing')
  })

  test('keeps what it has when the wanted term is added', async () => {
    await pastes(
      ['v=spf1 a:up.example include:other.example -all'],
      'v=spf1 include:up.example a:up.example include:other.example -all',
      'mismatch',
    )
    await pastes(
      ['v=spf1 redirect=other.example'],
      'v=spf1 include:up.example redirect=other.example',
      'mismatch',
    )
  })
})

describe('the look-ups that the wanted term takes', () => {
  test('fit up to ten', async () => {
    await pastes([`v=spf1 ${tens(9)} ~all`], `v=spf1 include:up.example ${tens(9)} ~all`, 'mismatch')
  })

  test('do not fit behind ten: what each term takes is told, and nothing is offered that breaks', async () => {
    const told = await pastes([`v=spf1 include:wide.example ${tens(6)} ~all`], null, 'mismatch')
    assert.match(told, /takes 10 of 10 look-ups; with include:up\.example it would take 11, and receivers/)
    assert.match(
      told,
      /no longer send with: "include:wide\.example" takes 4, "include:ten0\.example" takes 1,/,
    )
    assert.match(told, /Then add include:up\.example behind v=spf1\.$/)
  })

  test('count with all that it leads to', async () => {
    const wanted = { include: ['wide.example'] }
    assert.ok((await read([`v=spf1 ${tens(6)} ~all`], wanted)).paste)
    const over = await read([`v=spf1 ${tens(7)} ~all`], wanted)
    assert.deepEqual([over.state, over.paste], ['mismatch', null])
    assert.match(over.explanation, /with include:wide\.example it would take 11/)
    assert.ok(
      (await read([`v=spf1 ${tens(10)} ~all`], { include: [], ip: ['192.0.2.1'] })).paste,
      'an address',
    )
  })

  test('of a record that takes too many already are not added to', async () => {
    const told = await pastes([`v=spf1 include:wide.example ${tens(10)} ~all`], null, 'invalid')
    assert.match(
      told,
      /takes 14 look-ups and 10 are the most\. Take out .*: "include:wide\.example" takes 4,/,
    )
  })
})

describe('several records', () => {
  test('become one with the terms of all, each once', async () => {
    const told = await pastes(
      ['v=spf1 include:other.example a:up.example -all', 'v=spf1 +a:UP.example include:ten0.example. -all'],
      'v=spf1 include:up.example include:other.example a:up.example include:ten0.example. -all',
      'multiple',
    )
    assert.match(told, /This one takes the place of all: v=spf1/)
  })

  test('that end differently end in ~all, and what a redirect led to is included', async () => {
    await pastes(
      ['v=spf1 redirect=other.example', 'v=spf1 include:up.example -all', 'v=spf1 a:up.example ~all'],
      'v=spf1 include:other.example include:up.example a:up.example ~all',
      'multiple',
    )
  })

  test('that together take too many look-ups are not put together unasked', async () => {
    await pastes([`v=spf1 ${tens(10)} ~all`, 'v=spf1 include:other.example ~all'], null, 'multiple')
  })
})

describe('a record with a mistake', () => {
  const mended = {
    'v=spf1 ipv4:198.51.100.1 ~all': 'ip4:198.51.100.1 ~all',
    'v=spf1 ip4:2001:db8::1 192.0.2.9, -all;': 'ip6:2001:db8::1 ip4:192.0.2.9 -all',
    'v=spf1 include:other.example/ ~all': 'include:other.example ~all',
    'v=spf1 include: other.example \u2013all': 'include:other.example -all',
    'v=spf1 include=other.example\t~all': 'include:other.example ~all',
    'v=spf1 include:other.example, v=spf1 a:up.example ~all': 'include:other.example a:up.example ~all',
  }
  for (const [record, rest] of Object.entries(mended))
    test(`is mended where it is evident what was meant: ${JSON.stringify(record)}`, async () => {
      const told = await pastes([record], `v=spf1 include:up.example ${rest}`, 'invalid')
      assert.doesNotMatch(told, /leaves out/)
    })

  test('loses what authorises nobody, and says so', async () => {
    const told = await pastes(
      ['v=spf1 include:other.example nonsense:x include:broken.example include:gone.example ~all'],
      'v=spf1 include:up.example include:other.example ~all',
      'invalid',
    )
    assert.match(
      told,
      /cannot use "nonsense:x", "include:broken\.example", "include:gone\.example", which the new value/,
    )
    const voids = await pastes(
      ['v=spf1 a:no1.example mx:no2.example exists:no3.example include:up.example ~all'],
      'v=spf1 include:up.example ~all',
      'invalid',
    )
    assert.match(voids, /cannot use "a:no1\.example", "mx:no2\.example", "exists:no3\.example"/)
  })

  test('keeps who sends by a term that is broken in part only: then nothing is offered', async () => {
    await pastes(['v=spf1 include:half.example include:up.example ~all'], null, 'invalid')
    await pastes(['v=spf1 u1:x u2:x u3:x u4:x u5:x u6:x ~all'], null, 'invalid')
  })
})

test('a record that was read in part stays; of one that was not, nothing is said', async () => {
  const partly = await read(['v=spf1 include:down.example include:up.example ~all'])
  assert.deepEqual(
    [partly.state, partly.paste],
    ['unreadable', 'v=spf1 include:down.example include:up.example ~all'],
  )
  const not = await read('fails')
  assert.deepEqual([not.state, not.paste], ['unreadable', undefined])
})
