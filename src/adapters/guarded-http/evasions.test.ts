import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { isAllowedAddress } from '../../kernel/allowed-address.ts'
import { GuardedFault, openGuardedClient, type Resolve } from './guarded-http.ts'

let hits = 0
const secret = createServer((_, reply) => {
  hits++
  reply.end('secret')
})
let port = 0

before(async () => {
  await new Promise<void>((done) => secret.listen(0, '127.0.0.1', done))
  port = (secret.address() as AddressInfo).port
})
after(() => secret.close())

// Global unicast space that nobody has been given: it can be asked for and never answers.
const nowhere = { address: '3000::1', family: 6 as const }

const ask = async (url: string, resolve?: Resolve) => {
  const client = openGuardedClient({ allowPrivate: false, resolve })
  try {
    return await client.request({ url, maxBytes: 1000, timeoutMs: 2000 })
  } finally {
    await client.close()
  }
}

const code = (wanted: string) => (error: unknown) => {
  assert.ok(error instanceof GuardedFault, String(error))
  assert.equal(error.code, wanted, error.message)
  assert.ok(!error.message.includes('\n'))
  return true
}

test('no spelling of an inside address gets through', async () => {
  const hosts = [
    'localhost',
    '127.0.0.1',
    '127.0.0.1.',
    '127.1',
    '2130706433',
    '0x7f.1',
    '0x7f000001',
    '0177.0.0.1',
    '0',
    '0.0.0.0',
    '１２７.０.０.１',
    '127。0。0。1',
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[::ffff:0:127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[64:ff9b:1::7f00:1]',
    '[2002:7f00:1::]',
  ]
  for (const host of hosts) {
    await assert.rejects(ask(`http://${host}:${port}/`), code('blocked'), host)
  }
  assert.equal(hits, 0)
})

test('every range that is not the public network is refused', () => {
  const refused = [
    ...[
      '10.1.2.3',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '169.254.169.254',
      '100.64.0.1',
      '0.1.2.3',
    ],
    ...['192.0.0.8', '192.0.2.1', '192.88.99.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '224.0.0.1'],
    ...['240.0.0.1', '255.255.255.255', 'fc00::1', 'fd12::1', 'fe80::1', 'fec0::1', 'ff02::1', '2001:db8::1'],
    ...[
      '3fff::1',
      '100::1',
      '2001::1',
      '2001:2::1',
      '2002::1',
      '64:ff9b::808:808',
      '::ffff:8.8.8.8',
      '5f00::1',
    ],
    ...['4000::1', '::8.8.8.8', 'fe80::1%lo', '2606:4700::1%lo', 'example.com', '', '0x7f.1'],
  ]
  assert.deepEqual(
    refused.filter((address) => isAllowedAddress(address, false)),
    [],
  )
  const allowed = ['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450:4007::200e']
  assert.ok(allowed.every((address) => isAllowedAddress(address, false)))
})

test('an operator who allows private networks still keeps metadata services and odd forms out', () => {
  const allowed = ['127.0.0.1', '::1', '10.0.0.1', '192.168.0.1', 'fd12::1', '100.64.0.1', '8.8.8.8']
  assert.ok(allowed.every((address) => isAllowedAddress(address, true)))
  const refused = ['169.254.169.254', 'fd00:ec2::254', '100.100.100.200', '0.0.0.0', '::', '::ffff:10.0.0.1']
  assert.deepEqual(
    refused.filter((address) => isAllowedAddress(address, true)),
    [],
  )
})

test('a name is refused when any of its addresses is inside', async () => {
  const mixed: Resolve = async () => [nowhere, { address: '127.0.0.1', family: 4 }]
  await assert.rejects(ask(`http://mixed.example:${port}/`, mixed), code('blocked'))
  assert.equal(hits, 0)
})

test('a name that changes its answer gains nothing', async () => {
  let asked = 0
  const rebinding: Resolve = async () => (asked++ === 0 ? [nowhere] : [{ address: '127.0.0.1', family: 4 }])
  const first = await ask(`http://rebind.example:${port}/`, rebinding).catch((error) => error)
  assert.ok(['unreachable', 'timeout'].includes(first.code), first.message)
  assert.equal(first.reached, false)
  assert.equal(asked, 1, 'the name is resolved once for a connection')
  await assert.rejects(ask(`http://rebind.example:${port}/`, rebinding), code('blocked'))
  assert.equal(hits, 0)
})

test('a name without addresses, or with an answer that is none, is not connected to', async () => {
  await assert.rejects(
    ask('http://empty.example/', async () => []),
    code('unreachable'),
  )
  const odd: Resolve = async () => [{ address: '0x7f.1', family: 4 }]
  await assert.rejects(ask(`http://odd.example:${port}/`, odd), code('blocked'))
  const failing: Resolve = async () => {
    throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' })
  }
  await assert.rejects(ask('http://gone.example/', failing), code('unreachable'))
})

test('only plain http and https addresses are taken', async () => {
  const invalid = [
    'ftp://a.example/',
    'file:///etc/passwd',
    'gopher://a.example:70/',
    'javascript:1',
    '/x',
    '',
  ]
  const alsoInvalid = [
    'http://u:p@a.example/',
    'http://u@a.example/',
    'http://a.example/\r\nX: y',
    ' http://a.example/',
  ]
  for (const url of [...invalid, ...alsoInvalid, 'http://a b/', 'http://a.example:99999/']) {
    await assert.rejects(ask(url), code('invalid_url'), url)
  }
  for (const denied of [25, 465, 587, 22, 6379, 0]) {
    await assert.rejects(ask(`http://a.example:${denied}/`), code('blocked'), String(denied))
  }
})
