import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { connect } from 'node:tls'
import { openRelay } from '../../src/faces/smtp/relay.ts'
import { checkCertificate } from '../../src/main/check-certificate.ts'
import { watchTlsPair } from '../../src/main/renew-tls.ts'
import { openTlsPair, type TlsPair } from '../../src/main/tls-pair.ts'
import { until } from '../until.ts'

const folder = await mkdtemp(join(tmpdir(), 'posthorn-renewal-'))
after(() => rm(folder, { recursive: true, force: true }))
const files = { tlsCert: join(folder, 'cert.pem'), tlsKey: join(folder, 'key.pem') }
const told: string[] = []
const tell = (about: { err?: Error }, text: string) => void told.push(`${text} ${about.err?.message ?? ''}`)
const log = { info: tell, warn: tell, error: tell } as never

function makePair(host: string, now: string): Promise<TlsPair> {
  const dataDir = join(folder, host)
  return openTlsPair({ tlsCert: undefined, tlsKey: undefined, dataDir, host, now: new Date(now), log })
}

async function write({ cert, key }: TlsPair): Promise<void> {
  await writeFile(files.tlsCert, cert)
  await writeFile(files.tlsKey, key)
}

async function openWith(tls: TlsPair) {
  const unasked = async () => assert.fail()
  const bounds = { maxBytes: 1, maxRecipients: 1, maxConnections: 9, maxConnectionsPerIp: 9 }
  const room = { ofOne: 1, ofAll: 1 }
  const hooks = { login: unasked, accept: unasked, ownerOf: () => '', room }
  const place = { host: '127.0.0.1', port: 0, securePort: 0, name: 'relay', allowPlainAuth: false }
  const relay = await openRelay({ ...place, ...bounds, ...hooks, tls })
  after(() => relay.close())
  return relay
}

const nameShown = (port: number) =>
  new Promise<string>((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN))
      socket.destroy()
    }).on('error', reject)
  })

test('a certificate that is renewed under a running relay is shown to whoever connects then', async () => {
  const today = '2026-11-15T12:00:00Z'
  const [first, second] = [await makePair('one.example.com', today), await makePair('two.example.com', today)]
  const third = await makePair('three.example.com', today)
  await write(first)
  const { securePort = 0, renew } = await openWith(first)
  const needs = { files, inUse: first, take: renew, now: () => new Date(today), log, everyMs: 20 }
  const { stop } = watchTlsPair(needs)
  after(stop)
  assert.equal(await nameShown(securePort), 'one.example.com')
  await write(second)
  await until(async () => (await nameShown(securePort)) === 'two.example.com', 'the new certificate')
  await writeFile(files.tlsCert, third.cert)
  await until(async () => told.some((line) => /old certificate .*must be a PEM/.test(line)), 'the fault')
  assert.equal(await nameShown(securePort), 'two.example.com')
  await writeFile(files.tlsKey, third.key)
  await until(async () => (await nameShown(securePort)) === 'three.example.com', 'the whole pair')
  assert.equal(told.filter((line) => /old certificate/.test(line)).length, 1)
})

test('one that has run out is told at the start', async () => {
  const old = await makePair('old.example.com', '2010-01-01T00:00:00Z')
  await write(old)
  const { stop } = watchTlsPair({ files, inUse: old, take: () => {}, now: () => new Date(), log })
  stop()
  assert.match(told.at(-1) ?? '', /has run out/)
})

test('doctor says what the operator’s certificate is worth', async () => {
  const [made, end] = ['2026-11-15T12:00:00Z', '2036-11-15']
  const pair = await makePair('worth.example.com', made)
  await write(pair)
  const at = async (now: string) => (await checkCertificate(files, new Date(now)))[0]
  assert.deepEqual(await at(made), {
    name: 'certificate',
    state: 'ok',
    detail: `that of the relay is good until ${end}`,
  })
  assert.deepEqual([(await at('2036-11-14'))?.state, (await at('2036-11-16'))?.state], ['warning', 'failed'])
  assert.match((await at('2036-11-16'))?.detail ?? '', /ran out on 2036-11-15/)
  assert.match((await at('2036-11-16'))?.mend ?? '', /^renew .*cert\.pem/)
  const [missing] = await checkCertificate({ ...files, tlsKey: '/nope' }, new Date(made))
  assert.deepEqual([missing?.state, /POSTHORN_TLS_KEY.*ENOENT/.test(missing?.detail ?? '')], ['failed', true])
  assert.deepEqual(await checkCertificate({ tlsCert: undefined, tlsKey: undefined }, new Date(made)), [])
})
