import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { quickest } from '../../../../test/quickest.ts'
import { startDnsServer, type Zone } from '../../../../test/stand-ins/dns-server.ts'
import { openDns } from '../../../adapters/system-dns/system-dns.ts'
import { readSpf } from './read-spf.ts'

const asked: string[] = []
const zone: Zone = {
  'up.example TXT': ['v=spf1 ip4:192.0.2.0/24 -all'],
  'down.example TXT': 'fails',
  'down.example A': 'fails',
}
const options = { asked, delayMs: {} as Record<string, number> }
const dns = openDns({ servers: [await startDnsServer(zone, options)] })

let made = 0
/** Publishes a record at a new domain and reads it. */
async function read(
  record: Zone[string],
  wanted: { include?: string[]; ip?: string[] } = {},
  more: Zone = {},
) {
  const domain = `d${++made}.example`
  Object.assign(zone, { [`${domain} TXT`]: record }, more)
  const got = await readSpf(dns, { domain, include: wanted.include ?? [], ip: wanted.ip ?? [] })
  return { ...got, domain, codes: got.remarks.map(({ code }) => code) }
}

const up = { include: ['up.example'] }

describe('an SPF record', () => {
  test('is ok when it includes what is wanted, be it in several strings and among other texts', async () => {
    const got = await read(['other', ['v=spf1 incl', 'ude:UP.example. ~all']], up)
    assert.deepEqual([got.state, got.lookups, got.policy, got.codes], ['ok', 1, '~all', []])
    assert.deepEqual(got.found, ['v=spf1 include:UP.example. ~all'])
    assert.match(got.explanation, /authorises include:up\.example; it takes 1 of 10/)
  })

  test('is ok when the include is nested, or behind a redirect', async () => {
    const more: Zone = { 'nest.example TXT': ['v=spf1 include:up.example ?all'] }
    const nested = await read(['v=spf1 include:nest.example -all'], up, more)
    assert.deepEqual([nested.state, nested.lookups, nested.codes], ['ok', 2, ['minus_all']])
    const redirected = await read(['v=spf1 redirect=nest.example'], up)
    assert.deepEqual([redirected.state, redirected.lookups, redirected.policy], ['ok', 2, '?all'])
  })

  test('does not redirect beside all, nor count what stands behind it', async () => {
    const got = await read(['v=spf1 ~all include:up.example redirect=up.example'], up)
    assert.deepEqual([got.state, got.lookups, got.policy], ['mismatch', 0, '~all'])
  })

  test('that lacks an include says how it should read', async () => {
    const got = await read(['v=spf1 a:up.example  ?include:up.example ~all'], up, {
      'up.example A': ['192.0.2.9'],
    })
    assert.equal(got.state, 'mismatch')
    assert.match(got.explanation, /Change the record to v=spf1 include:up\.example a:up\.example ~all$/)
    assert.match(got.explanation, new RegExp(`of ${got.domain} does not authorise include:up\\.example`))
  })

  test('is missing where there is none, and says what to publish', async () => {
    const none = await read([], { ...up, ip: ['2001:db8::1'] })
    assert.deepEqual([none.state, none.policy, none.lookups], ['missing', null, 0])
    assert.match(none.explanation, /the value v=spf1 include:up\.example ip6:2001:db8::1 ~all$/)
    assert.equal((await read(['v=spf10 nearly'])).state, 'missing')
    assert.equal((await readSpf(dns, { domain: 'nowhere.example', include: [], ip: [] })).state, 'missing')
  })

  test('that receivers pass over is named, so that it is replaced', async () => {
    for (const almost of [
      '"v=spf1 a ~all"',
      ' v=spf1 a ~all',
      'v = spf1 a ~all',
      'v=spf1; a ~all',
      'spf1 a',
    ]) {
      const got = await read([almost], up)
      assert.deepEqual([got.state, got.found], ['missing', [almost]])
      assert.ok(got.explanation.includes(`The TXT record "${almost}" is none`), got.explanation)
    }
    for (const other of ['spf2.0/pra a', 'v=spf10 a', 'about v=spf1'])
      assert.doesNotMatch((await read([other])).explanation, /is none/, other)
    assert.match((await read(['v=spf1 a\t~all'])).explanation, /it has tabs or other characters/)
  })

  test('that stands twice is named twice', async () => {
    const got = await read(['v=spf1 -all', 'v=spf1 include:up.example ~all'], up)
    assert.deepEqual([got.state, got.found.length], ['multiple', 2])
    assert.match(got.explanation, /"v=spf1 -all" and "v=spf1 include:up\.example ~all"/)
  })

  test('with a mistake is invalid, and the mistake is named', async () => {
    const wrong = [
      'ipv4:192.0.2.1',
      'ip4:host.example',
      'ip4:192.0.2.1/33',
      'ip6:192.0.2.1',
      'include:',
      'include',
    ]
    wrong.push(
      'include:up.example/',
      'a/33',
      'a:',
      'all:x',
      'ip4:192.0.2.1/',
      'exists',
      '=x',
      'include:a..example',
    )
    wrong.push('redirect=', 'include:nolabel', 'exists:%{z}.example')
    for (const word of wrong) {
      const got = await read([`v=spf1 ${word} ~all`])
      assert.equal(got.state, 'invalid', word)
      assert.ok(got.explanation.includes(JSON.stringify(word)), got.explanation)
    }
    assert.equal((await read(['v=spf1 redirect=up.example redirect=up.example'])).state, 'invalid')
    assert.equal((await read(['v=spf1 \u00e9 ~all'])).state, 'invalid')
  })

  test('may use everything that the standard allows', async () => {
    const terms = [
      'a',
      'a/24',
      'mx//64',
      'a:up.example/24//64',
      'mx:up.example',
      'ptr',
      'exists:%{ir}.sbl.up.example',
    ]
    const got = await read(
      [`v=SPF1 ${terms.join(' ')} +ip6:2001:db8::/32 exp=why.example other=x ?all`],
      {},
      {
        [`d${made + 1}.example A`]: ['192.0.2.1'],
        [`d${made + 1}.example MX`]: [{ exchange: 'up.example', priority: 1 }],
        'up.example MX': [{ exchange: 'up.example', priority: 1 }],
      },
    )
    assert.deepEqual([got.state, got.lookups, got.codes], ['ok', 7, ['ptr']])
  })

  test('remarks on an end that lets everybody through', async () => {
    assert.deepEqual((await read(['v=spf1 all'])).codes, ['plus_all'])
  })
})

describe('the limits of an evaluation', () => {
  const includes = (n: number, name: string) =>
    Array.from({ length: n }, (_, i) => `include:${name}${i}.example`).join(' ')
  const leaves = (n: number, name: string, text: string): Zone =>
    Object.fromEntries(Array.from({ length: n }, (_, i) => [`${name}${i}.example TXT`, [text]]))

  test('more than ten look-ups are too many, counted to the end', async () => {
    const ten = await read([`v=spf1 ${includes(10, 'ten')} ~all`], {}, leaves(10, 'ten', 'v=spf1 ?all'))
    assert.deepEqual([ten.state, ten.lookups], ['ok', 10])
    const more = { ...leaves(4, 'deep', 'v=spf1 a:up.example mx:up.example a:up.example ?all') }
    const over = await read([`v=spf1 ${includes(4, 'deep')} include:up.example ~all`], up, more)
    assert.deepEqual([over.state, over.lookups], ['invalid', 17])
    assert.match(over.explanation, /takes 17 look-ups and 10 are the most/)
  })

  test('a record with thousands of includes does not make thousands of questions', async () => {
    asked.length = 0
    const got = await read([`v=spf1 ${includes(2_000, 'flood')} ~all`])
    assert.deepEqual([got.state, got.lookups], ['invalid', 41])
    assert.match(got.explanation, /takes more than 40 look-ups and 10 are the most/)
    assert.ok(asked.length < 50, `${asked.length} questions`)
  })

  test('they are counted exactly up to 40', async () => {
    const four = 'v=spf1 a:up.example mx:up.example a:up.example exists:up.example ?all'
    const forty = await read([`v=spf1 ${includes(8, 'branch')} ~all`], {}, leaves(8, 'branch', four))
    assert.match(forty.explanation, /takes 40 look-ups and/)
    const more = await read([`v=spf1 ${includes(8, 'branch')} ptr ~all`])
    assert.match(more.explanation, /takes more than 40 look-ups and/)
  })

  test('records that branch, or lead on without end, end', async () => {
    const branches = leaves(1_000, 'bush', `v=spf1 ${includes(9, 'bush')} mx:many.example ~all`)
    const chain = Object.fromEntries(
      Array.from({ length: 200 }, (_, i) => [`c${i}.example TXT`, [`v=spf1 redirect=c${i + 1}.example`]]),
    )
    for (const [record, more] of [
      [`v=spf1 ${includes(9, 'bush')} ~all`, branches],
      ['v=spf1 redirect=c0.example', chain],
    ] as const) {
      asked.length = 0
      const got = await read([record], { ip: ['192.0.2.1'] }, more)
      assert.equal(got.state, 'invalid')
      assert.ok(asked.length < 100, `${asked.length} questions`)
    }
  })

  test('more than two names that do not exist are too many', async () => {
    const two = await read(['v=spf1 a:no1.example mx:no2.example ~all'])
    assert.equal(two.state, 'ok')
    const three = await read(['v=spf1 a:no1.example mx:no2.example exists:no3.example ~all'])
    assert.equal(three.state, 'invalid')
    assert.match(three.explanation, /3 of the names in it do not exist/)
  })

  test('an include that leads nowhere, astray or back is named', async () => {
    const gone = await read(['v=spf1 include:gone.example ~all'])
    assert.equal(gone.state, 'invalid')
    assert.match(gone.explanation, /"gone\.example", which d\d+\.example names, has no SPF record/)
    const twice = await read(
      ['v=spf1 include:twice.example ~all'],
      {},
      { 'twice.example TXT': ['v=spf1', 'v=spf1 ~all'] },
    )
    assert.match(twice.explanation, /twice\.example has 2 SPF records/)
    const wrong = await read(['v=spf1 redirect=wrong.example'], {}, { 'wrong.example TXT': ['v=spf1 wrong'] })
    assert.match(wrong.explanation, /the SPF record of wrong\.example cannot be used: "wrong"/)
    const loop = await read(
      ['v=spf1 include:l1.example ~all'],
      {},
      {
        'l1.example TXT': ['v=spf1 include:l2.example ~all'],
        'l2.example TXT': ['v=spf1 redirect=l1.example'],
      },
    )
    assert.deepEqual([twice.state, wrong.state, loop.state], ['invalid', 'invalid', 'invalid'])
    assert.match(loop.explanation, /"l2\.example" leads back to "l1\.example"/)
  })

  test('eleven mail servers are too many for mx', async () => {
    const many = Array.from({ length: 11 }, (_, i) => ({ exchange: `mx${i}.example`, priority: i }))
    const got = await read(['v=spf1 mx:many.example ~all'], {}, { 'many.example MX': many })
    assert.match(got.explanation, /11 mail servers/)
  })
})

describe('a server that does not answer', () => {
  test('leaves the record unreadable', async () => {
    assert.equal((await read('fails', up)).state, 'unreadable')
    assert.equal((await read('silent', up)).state, 'unreadable')
  })

  test('counts only where the evaluation comes to it', async () => {
    const before = await read(['v=spf1 include:down.example include:up.example ~all'], up)
    assert.equal(before.state, 'unreadable')
    assert.match(before.explanation, /"down\.example" gave no answer/)
    const behind = await read(['v=spf1 include:up.example include:down.example ~all'], up)
    assert.deepEqual([behind.state, behind.codes], ['ok', ['include_unreadable']])
    assert.equal(
      (await read(['v=spf1 include:down.example'], { include: ['down.example'] })).state,
      'unreadable',
    )
  })
})

describe('an address', () => {
  test('is authorised by itself, by a network, by an include, a host or its mail servers', async () => {
    Object.assign(zone, { 'mail.example A': ['198.51.100.7'], 'mail.example AAAA': ['2001:db8:1::7'] })
    zone['mail.example MX'] = [{ exchange: 'mail.example', priority: 10 }]
    const state = async (terms: string, ip: string) => (await read([`v=spf1 ${terms}`], { ip: [ip] })).state
    assert.equal(await state('ip4:192.0.2.1 -all', '192.0.2.1'), 'ok')
    assert.equal(await state('ip4:192.0.2.0/24 -all', '192.0.2.128/25'), 'ok')
    assert.equal(await state('ip4:192.0.2.0/25 -all', '192.0.2.0/24'), 'mismatch')
    assert.equal(await state('ip6:2001:db8::/32 -all', '2001:db8::5'), 'ok')
    assert.equal(await state('include:up.example -all', '192.0.2.77'), 'ok')
    assert.equal(await state('include:up.example -all', '192.0.3.77'), 'mismatch')
    assert.equal(await state('a:mail.example -all', '198.51.100.7'), 'ok')
    assert.equal(await state('a:mail.example/24//48 -all', '198.51.100.99'), 'ok')
    assert.equal(await state('mx:mail.example//48 -all', '2001:db8:1::8'), 'ok')
    assert.equal(await state('redirect=up.example', '192.0.2.77'), 'ok')
    assert.equal(await state('a:down.example ip4:192.0.2.1', '192.0.2.1'), 'unreadable')
    assert.equal(await state('ip4:192.0.2.1 a:down.example', '192.0.2.1'), 'ok')
    assert.equal(await state('include:down.example ip4:192.0.2.1', '192.0.2.1'), 'unreadable')
  })

  test('that an earlier term shuts out is not', async () => {
    const got = await read(['v=spf1 -ip4:192.0.2.0/24 ip4:192.0.2.1 ~all'], { ip: ['192.0.2.1'] })
    assert.equal(got.state, 'mismatch')
    assert.match(got.explanation, /Change the record to v=spf1 ip4:192\.0\.2\.1 -ip4:192\.0\.2\.0\/24 ~all$/)
  })
})

test('what does not depend on each other is asked at once', async () => {
  const names = Array.from({ length: 8 }, (_, i) => `slow${i}.example`)
  for (const name of names) {
    zone[`${name} TXT`] = ['v=spf1 ?all']
    options.delayMs[`${name} TXT`] = 300
  }
  const took = await quickest(500, async () => {
    const got = await read([`v=spf1 ${names.map((name) => `include:${name}`).join(' ')} ~all`])
    assert.equal(got.state, 'ok')
  })
  assert.ok(took < 500, `${took} ms`)
})
