// Where webhooks may not go: asked at creation, and again at every connection.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { startDnsServer, type Zone } from '../../../test/stand-ins/dns-server.ts'
import { until } from '../../../test/until.ts'
import { openReceiver } from './fixtures/receiver.ts'

// Given out to nobody, and answered by nobody.
const publicAddress = '203.0.114.7'
const zone: Zone = {}
const dns = await startDnsServer(zone)
const env = { POSTHORN_DNS: dns, POSTHORN_RATE_LIMIT_FACTOR: '100', POSTHORN_RETRY_FACTOR: '0.01' }
const app = await makeApp({ webhooks: true, env })

const inside = {
  loopback: ['127.0.0.1', '127.8.9.10', '::1'],
  private: ['10.0.0.1', '172.16.0.1', '172.31.255.254', '192.168.1.1', 'fc00::1', 'fd12::1'],
  'link-local': ['169.254.169.254', '169.254.0.1', 'fe80::1'],
  shared: ['100.64.0.1', '100.100.100.200'],
  special: [
    '0.0.0.0',
    '192.0.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '::',
    '2001:db8::1',
  ],
  'multicast and reserved': ['224.0.0.1', '240.0.0.1', '255.255.255.255', 'ff02::1'],
  disguised: ['::ffff:127.0.0.1', '::ffff:10.0.0.1', '64:ff9b::7f00:1', '2002:7f00:1::1', '192.88.99.1'],
}

const create = (url: string, more: object = {}) =>
  app.call('POST', '/v3/webhooks', { body: { url, events: ['delivered'], ...more } })

/** The delivery of a test call, as soon as it has been tried. */
async function tried(id: number) {
  const { body } = await app.call('POST', `/v3/webhooks/${id}/test`, { body: {} })
  return until(async () => {
    const { body: list } = await app.call('GET', `/v3/webhooks/${id}/deliveries`)
    const found = list.deliveries.find((one: { id: string }) => one.id === body.id)
    return found.attempts > 0 && found
  }, 'the first attempt')
}

const clear = () => {
  for (const name of Object.keys(zone)) delete zone[name]
}

async function remove(id: number): Promise<void> {
  await app.call('DELETE', `/v3/webhooks/${id}`)
}

describe('an address inside', () => {
  for (const [kind, addresses] of Object.entries(inside))
    test(`that is ${kind} is refused, written out or behind a name`, async () => {
      for (const address of addresses) {
        const host = address.includes(':') ? `[${address}]` : address
        const literal = await create(`https://${host}/hook`)
        assert.deepEqual([literal.status, literal.body.code], [400, 'invalid_parameter'], address)
        assert.match(literal.body.message, /not a public address/)
        clear()
        zone[`hook.example ${address.includes(':') ? 'AAAA' : 'A'}`] = [address]
        const named = await create('https://hook.example/hook')
        assert.deepEqual([named.status, named.body.code], [400, 'invalid_parameter'], address)
      }
    })

  test('is refused in every spelling, and for a change too', async () => {
    for (const host of ['localhost', 'a.localhost', '127.1', '2130706433', '0x7f.1', '0177.0.0.1'])
      assert.equal((await create(`http://${host}/`)).status, 400, host)
    for (const port of [22, 25, 5432])
      assert.equal((await create(`http://${publicAddress}:${port}/`)).status, 400)
    const { body } = await create(`http://${publicAddress}/`)
    const changed = await app.call('PUT', `/v3/webhooks/${body.id}`, { body: { url: 'http://127.0.0.1/' } })
    assert.equal(changed.status, 400)
    await remove(body.id)
  })

  test('is not told of the end of an import or an export either, unless webhooks may go there', async () => {
    const allowing = await makeApp({ env: { ...env, POSTHORN_WEBHOOK_ALLOW_PRIVATE: 'true' } })
    const imported = { path: 'contacts/import', field: 'notifyUrl', jsonBody: [{ email: 'a@example.com' }] }
    const exported = { path: 'contacts/export', field: 'notifyUrl', customContactFilter: {} }
    const recipients = {
      path: 'emailCampaigns/1/exportRecipients',
      field: 'notifyURL',
      recipientsType: 'all',
    }
    for (const { path, field, ...asked } of [imported, exported, recipients]) {
      const body = { ...asked, [field]: 'http://127.0.0.1/done' }
      const refused = await app.call('POST', `/v3/${path}`, { body })
      assert.deepEqual([refused.status, refused.body.code], [400, 'invalid_parameter'], path)
      assert.match(refused.body.message, new RegExp(`^${field} cannot be called: .*not a public address`))
      const { status } = await allowing.call('POST', `/v3/${path}`, { body })
      assert.equal(status, path.startsWith('contacts') ? 202 : 404, path)
    }
  })

  test('beside a public one condemns the name', async () => {
    clear()
    zone['both.example A'] = [publicAddress, '10.0.0.1']
    assert.equal((await create('https://both.example/')).status, 400)
  })

  test('that a name leads to only later is not connected to', async () => {
    const receiver = await openReceiver()
    for (const address of ['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', '::ffff:127.0.0.1']) {
      clear()
      zone['rebind.example A'] = [publicAddress]
      const made = await create(`http://rebind.example:${receiver.port}/hook`)
      assert.equal(made.status, 201, made.text)
      clear()
      zone[`rebind.example ${address.includes(':') ? 'AAAA' : 'A'}`] = [address]
      const { error, statusCode } = await tried(made.body.id)
      assert.deepEqual([error, statusCode], ['rebind.example is not a public address', null])
      await remove(made.body.id)
    }
    assert.equal(receiver.got.length, 0)
  })
})

test('a name that nobody knows yet may be named, and is looked up at each call', async () => {
  clear()
  const { body, status } = await create('https://later.example/hook')
  assert.equal(status, 201)
  assert.match((await tried(body.id)).error, /later\.example/)
  await remove(body.id)
})

test('the operator may allow private addresses, but never those of metadata services', async () => {
  const open = await makeApp({ webhooks: true, env: { ...env, POSTHORN_WEBHOOK_ALLOW_PRIVATE: 'true' } })
  const receiver = await openReceiver()
  clear()
  zone['intern.example A'] = ['127.0.0.1']
  const body = { url: `http://intern.example:${receiver.port}/hook`, events: ['delivered'] }
  const made = await open.call('POST', '/v3/webhooks', { body })
  assert.equal(made.status, 201, made.text)
  await open.call('POST', `/v3/webhooks/${made.body.id}/test`, { body: {} })
  await receiver.calls(1)
  for (const host of ['169.254.169.254', '168.63.129.16']) {
    const metadata = { ...body, url: `http://${host}/latest` }
    assert.equal((await open.call('POST', '/v3/webhooks', { body: metadata })).status, 400)
  }
})
