import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeDomainApp } from './fixtures/app.ts'

const app = await makeDomainApp()
const path = '/v3/senders/domains'

test('the provider’s way: create, read, authenticate, list, delete', async () => {
  const made = await app.call('POST', path, { body: { name: 'Shop.example', unknown: 1 } })
  assert.equal(made.status, 200)
  const { id, domain_name, dns_records } = made.body
  assert.ok(Number.isInteger(id))
  assert.equal(domain_name, 'shop.example')
  assert.equal(dns_records.dkim_record.type, 'TXT')
  assert.deepEqual(
    [dns_records.brevo_code, dns_records.dmarc_record].map(({ host_name, status }) => [host_name, status]),
    [
      ['_posthorn-challenge.shop.example', false],
      ['_dmarc.shop.example', false],
    ],
  )
  const early = await app.call('PUT', `${path}/shop.example/authenticate`)
  assert.match(early.body.message, /not authenticated yet.*dkim at /)

  app.publish((await app.read('shop.example')).records)
  const done = await app.call('PUT', `${path}/shop.example/authenticate`)
  assert.deepEqual(done.body, {
    domain_name: 'shop.example',
    message: 'Domain has been authenticated successfully.',
  })
  const { body: read } = await app.call('GET', `${path}/shop.example`)
  assert.deepEqual([read.domain, read.verified, read.authenticated], ['shop.example', true, true])
  assert.equal(read.dns_records.dkim_record.status, true)

  const { body: list } = await app.call('GET', path)
  const { creator } = list.domains[0]
  assert.deepEqual([creator.id, creator.email], [app.accountId, ''])
  const known = { id, domain_name: 'shop.example', ip: '', provider: '', creator }
  assert.deepEqual(list, {
    domains: [{ ...known, verified: true, authenticated: true }],
    count: 1,
    current_page: 1,
    total_pages: 1,
  })
  assert.equal((await app.call('POST', path, { body: { name: 'shop.example' } })).body.id, id)
  assert.equal((await app.call('DELETE', `${path}/shop.example`)).status, 204)
  const gone = await app.call('GET', `${path}/shop.example`)
  assert.deepEqual([gone.status, gone.body.code], [404, 'document_not_found'])
})

test('what is no domain is refused in the provider’s form', async () => {
  for (const name of ['localhost', '10.0.0.1', '', 7, null]) {
    const reply = await app.call('POST', path, { body: { name } })
    assert.equal(reply.status, 400, String(name))
    assert.ok(reply.body.code && reply.body.message)
  }
  assert.equal((await app.call('GET', `${path}/localhost`)).status, 400)
})
