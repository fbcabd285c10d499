// Anybody can write anything into DNS.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { quickest } from '../../../../test/quickest.ts'
import { startDnsServer, type Zone } from '../../../../test/stand-ins/dns-server.ts'
import { openDns } from '../../../adapters/system-dns/system-dns.ts'
import type { Dns, DnsAnswer } from '../../../kernel/ports.ts'
import { readCname } from './read-cname.ts'
import { readDkim } from './read-dkim.ts'
import { readDmarc } from './read-dmarc.ts'
import { readMailHost } from './read-mail-host.ts'
import { readMx } from './read-mx.ts'
import { readSpf, type SpfReading } from './read-spf.ts'
import { readToken } from './read-token.ts'
import type { Reading, State } from './reading.ts'

const states: State[] = ['ok', 'missing', 'mismatch', 'multiple', 'invalid', 'unreadable']
const spki = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({
  format: 'der',
  type: 'spki',
})
const publicKey = spki.toString('base64')

const readAll = (dns: Dns, domain: string): Promise<Reading[]> =>
  Promise.all([
    readSpf(dns, { domain, include: ['up.example'], ip: ['192.0.2.1', '2001:db8::1'] }),
    readDkim(dns, { domain, selector: 'sel', publicKey }),
    readDmarc(dns, domain),
    readCname(dns, { host: domain, target: 'up.example' }),
    readMx(dns, { host: domain, exchange: 'up.example', priority: 10 }),
    readToken(dns, { host: domain, value: 'token=x' }),
    readMailHost(dns, domain),
  ])

function assertFit({ state, found, explanation, remarks }: Reading): void {
  assert.ok(states.includes(state), state)
  assert.ok(found.length <= 10 && found.every((text) => text.length <= 1_001))
  const texts = [explanation, ...found, ...remarks.map(({ message }) => message)]
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  for (const text of texts) assert.doesNotMatch(text, /[\u0000-\u001f\u007f-\u009f]/)
  assert.ok(explanation.length < 3_000 && remarks.length < 20, explanation)
}

const words = [
  'v=spf1',
  'v=DMARC1',
  'v=DKIM1',
  ' ',
  ';',
  '=',
  'include:',
  'up.example',
  'redirect=',
  'a',
  'mx',
  'all',
]
words.push(
  '-',
  '~',
  '/24',
  '//64',
  'ip4:',
  '192.0.2.1',
  'ip6:',
  '2001:db8::',
  'exists:',
  '%{i}',
  '%',
  'p=',
  'reject',
)
words.push(
  'rua=',
  'mailto:a@b.example',
  ',',
  'k=rsa',
  'k=ed25519',
  'AAAA',
  publicKey,
  'psd=y',
  'sp=',
  '\0',
  'ÿ',
  '"',
)
const mixed = fc.array(fc.constantFrom(...words), { maxLength: 30 }).map((parts) => parts.join(''))
const started = fc
  .tuple(fc.constantFrom('v=spf1 ', 'v=DMARC1;', 'v=DKIM1;', ''), mixed)
  .map((parts) => parts.join(''))
const text = fc.oneof(started, mixed, fc.string({ unit: 'binary', maxLength: 500 }))
const answerOf = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<DnsAnswer<T>> =>
  fc.oneof(
    fc.array(one, { minLength: 1, maxLength: 3 }),
    fc.constantFrom('none' as const, 'unreadable' as const),
  )
const answers = fc.record({
  txt: fc.array(answerOf(text), { minLength: 1, maxLength: 5 }),
  cname: answerOf(text),
  mx: answerOf(fc.record({ exchange: text, priority: fc.nat() })),
  addresses: answerOf(fc.oneof(fc.ipV4(), fc.ipV6(), text)),
  exists: fc.constantFrom(true, false, 'unreadable' as const),
})

test('no answer makes a reading throw, run away or carry control characters', async () => {
  await fc.assert(
    fc.asyncProperty(answers, async (given) => {
      let asked = 0
      const next = <T>(answer: T) => {
        asked++
        return Promise.resolve(answer)
      }
      const dns: Dns = {
        txt: () => next(given.txt[asked % given.txt.length] ?? 'none'),
        cname: () => next(given.cname),
        mx: () => next(given.mx),
        addresses: () => next(given.addresses),
        exists: () => next(given.exists),
      }
      for (const reading of await readAll(dns, 'shop.example.com')) {
        assertFit(reading)
        const { paste } = reading as Partial<SpfReading>
        if (paste) assert.match(paste, /^v=spf1 [\x20-\x7e]{1,1000}$/i)
      }
      assert.ok(asked < 500, `${asked} questions`)
    }),
    { numRuns: 1_000 },
  )
})

const silent = async () => 'unreadable' as const
const saying = (record: string): Dns => ({
  txt: async () => [record],
  cname: async () => [record],
  mx: async () => [{ exchange: record, priority: 10 }],
  addresses: silent,
  exists: silent,
})

test('no length makes a reading slow', async () => {
  // The most that an answer can carry.
  const filled = (part: string) => part.repeat(64_000 / part.length)
  const bodies = [
    'x',
    'a ',
    ';',
    '%{i}',
    '/',
    '1',
    'a=',
    'a.',
    '-',
    '%{s-',
    'ip4:1 ',
    'mailto:a@b,',
    '=',
  ].map(filled)
  bodies.push(`include:${filled('a.')}`, `a:${filled('a/')}`, `rua=${filled('mailto:a@b.example,')}`)
  for (const start of ['v=spf1 ', 'v=DMARC1; p=none;', 'v=DKIM1; p=', ''])
    for (const body of bodies) {
      const took = await quickest(500, async () => {
        for (const reading of await readAll(saying(`${start}${body}`), 'big.example')) assertFit(reading)
      })
      assert.ok(took < 500, `${start}${body.slice(0, 20)}: ${took} ms`)
    }
})

test('every byte may come from a real server', async () => {
  const bytes = Array.from({ length: 256 }, (_, i) => String.fromCharCode(i)).join('')
  const zone: Zone = {}
  for (const [name, start] of Object.entries({
    '': 'v=spf1',
    '_dmarc.': 'v=DMARC1;',
    'sel._domainkey.': 'p=',
  }))
    zone[`${name}big.example TXT`] = [`${start} ${bytes.repeat(10)}`]
  const dns = openDns({ servers: [await startDnsServer(zone)] })
  for (const reading of await readAll(dns, 'big.example')) assertFit(reading)
})

test('all readings of a domain take as long as the slowest answer', async () => {
  const delayMs = 200
  const zone: Zone = {
    'shop.example TXT': ['v=spf1 ip4:192.0.2.1 ~all', 'token=x'],
    'sel._domainkey.shop.example TXT': [`v=DKIM1; p=${publicKey}`],
    '_dmarc.shop.example TXT': ['v=DMARC1; p=reject'],
    'shop.example MX': [{ exchange: 'up.example', priority: 10 }],
    'shop.example CNAME': 'fails',
  }
  const everything = new Proxy({}, { get: () => delayMs })
  const dns = openDns({ servers: [await startDnsServer(zone, { delayMs: everything })] })
  const took = await quickest(delayMs + 100, () => readAll(dns, 'shop.example'))
  assert.ok(took < delayMs + 100, `${took} ms`)
})
