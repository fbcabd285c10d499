import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../kernel/sql.ts'
import { makeDomainApp, type Published, recordOf } from './fixtures/app.ts'
import { mostDomains } from './refusals.ts'

const app = await makeDomainApp()

test('a declared domain gets the records to publish, and is known from then on', async () => {
  const { status, body } = await app.declare('Mail.Example.COM.')
  assert.equal(status, 201)
  assert.equal(body.domain, 'mail.example.com')
  assert.equal(body.status, 'pending')
  const shown = body.records.map(({ role, type, host }: Published) => `${role} ${type} ${host}`)
  const { selector } = /^(?<selector>ph[0-9a-f]+)\./.exec(recordOf(body, 'dkim').host)?.groups ?? {}
  assert.deepEqual(shown, [
    `dkim TXT ${selector}._domainkey.mail.example.com`,
    'spf TXT mail.example.com',
    'dmarc TXT _dmarc.mail.example.com',
    'verification TXT _posthorn-challenge.mail.example.com',
  ])
  const dkim = recordOf(body, 'dkim')
  assert.match(dkim.value, /^v=DKIM1; k=rsa; p=[A-Za-z0-9+/]{392}$/)
  assert.match(dkim.explanation, /255/)
  assert.equal(recordOf(body, 'spf').value, 'v=spf1 include:spf.posthorn.example ~all')
  assert.match(recordOf(body, 'verification').value, /^posthorn-verification=[0-9a-f]{40}$/)
  for (const role of ['dkim', 'spf', 'dmarc']) assert.equal(recordOf(body, role).state, 'missing', role)
  assert.deepEqual([body.spf.state, body.dkim.state, body.dmarc.state], ['missing', 'missing', 'missing'])
  assert.equal(body.checked_at, app.clock.now.toISOString())

  const again = await app.declare('mail.example.com')
  assert.equal(again.status, 200)
  assert.deepEqual(again.body, body)
  assert.deepEqual(await app.read('mail.example.com'), body)
})

test('a key of the caller makes one declaration of two', async () => {
  const headers = { 'idempotency-key': 'declare-1' }
  const call = () => app.call('POST', '/api/v1/domains', { headers, body: { domain: 'once.example' } })
  const [first, second] = [await call(), await call()]
  assert.deepEqual([first.status, second.status], [201, 201])
  assert.equal(first.text, second.text)
  assert.equal(second.headers.get('idempotency-replayed'), 'true')
})

test('of two calls at the same time one declares', async () => {
  const replies = await Promise.all([app.declare('race.example'), app.declare('race.example')])
  assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 201])
  const [one, other] = replies.map(({ body }) => recordOf(body, 'dkim').value)
  assert.equal(one, other)
})

test('names are brought into one form, and what is none is refused', async () => {
  assert.equal((await app.declare('Bücher.example')).body.domain, 'xn--bcher-kva.example')
  const long = `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.example`
  for (const domain of [
    'localhost',
    'example',
    '127.0.0.1',
    '[::1]',
    'printer.local',
    'app.localhost',
    'a..example',
    '-a.example',
    'https://shop.example/',
    'anna@shop.example',
    '*.shop.example',
    '_dmarc.shop.example',
    'shop.example:25',
    '',
    ' ',
    long,
  ]) {
    const reply = await app.declare(domain)
    assert.equal(reply.status, 422, domain)
    assert.equal(reply.body.error.param, 'domain')
  }
  const hint = async (domain: string) => (await app.declare(domain)).body.error.hint
  assert.match(await hint('https://shop.example/'), /without http/)
  assert.match(await hint('a_b.example'), /letters, digits and hyphens/)
  assert.match(await hint('192.0.2.1'), /an address, not a name/)
  assert.match(await hint(`${'a'.repeat(64)}.example.com`), /more than 63 characters/)
  assert.match(await hint('printer.local'), /No public resolver/)
  assert.match(await hint(long), /220 characters/)
  for (const domain of [null, 1, ['shop.example'], {}])
    assert.equal((await app.call('POST', '/api/v1/domains', { body: { domain } })).status, 422)
  assert.equal((await app.call('GET', '/api/v1/domains/shop%00.example/dns')).status, 422)
})

test('what anybody registers names below is declared by nobody', async () => {
  for (const domain of ['co.uk', 'Asso.fr', 'xn--55qx5d.cn']) {
    const reply = await app.declare(domain)
    assert.deepEqual([reply.status, reply.body.error.param], [422, 'domain'], domain)
    assert.match(reply.body.error.message, /public suffix/)
    const v3 = await app.call('POST', '/v3/senders/domains', { body: { name: domain } })
    assert.equal(v3.status, 400, domain)
  }
  assert.equal((await app.declare('shop.co.uk')).status, 201)
})

test('the domain of a mailbox provider is declared by nobody, one below it by whom it is given to', async () => {
  for (const domain of ['gmail.com', 'Free.fr.', 'proton.me']) {
    const { status, body } = await app.declare(domain)
    assert.deepEqual(
      [status, body.error.code, body.error.param],
      [422, 'invalid_parameter', 'domain'],
      domain,
    )
    assert.match(body.error.message, /belongs to its provider/)
    assert.match(body.error.hint, /a domain of your own/)
    assert.equal((await app.call('POST', '/v3/senders/domains', { body: { name: domain } })).status, 400)
    const asked = await app.call('POST', '/api/v1/domains/verify', { body: { domain } })
    assert.deepEqual([asked.status, asked.body.error.action], [404, undefined])
  }
  assert.equal((await app.declare('shop.free.fr')).status, 201)
})

test('an account sees and touches its own domains only', async () => {
  const { key } = await app.makeAccount()
  await app.declare('private.example')
  for (const [method, path] of [
    ['GET', '/api/v1/domains/private.example/dns'],
    ['POST', '/api/v1/domains/private.example/dkim/rotate'],
    ['DELETE', '/api/v1/domains/private.example'],
    ['GET', '/v3/senders/domains/private.example'],
    ['PUT', '/v3/senders/domains/private.example/authenticate'],
    ['DELETE', '/v3/senders/domains/private.example'],
  ] as const)
    assert.equal((await app.call(method, path, { key })).status, 404, path)
  const verified = await app.call('POST', '/api/v1/domains/verify', {
    key,
    body: { domain: 'private.example' },
  })
  assert.equal(verified.status, 404)
  assert.equal(verified.body.error.action.operation, 'domain.declare')
  assert.deepEqual((await app.call('GET', '/api/v1/domains', { key })).body, { data: [], next_cursor: null })
  assert.equal((await app.declare('private.example', key)).status, 201)
  const [mine, theirs] = [await app.read('private.example'), await app.read('private.example', key)]
  for (const role of ['dkim', 'verification'])
    assert.notEqual(recordOf(mine, role).value, recordOf(theirs, role).value)
})

test('domains are listed page by page, newest first, and can be deleted', async () => {
  const { key } = await app.makeAccount()
  for (const domain of ['a.example', 'b.example', 'c.example']) await app.declare(domain, key)
  const { body: first } = await app.call('GET', '/api/v1/domains?limit=2', { key })
  const { body: rest } = await app.call('GET', `/api/v1/domains?limit=2&cursor=${first.next_cursor}`, { key })
  const names = [...first.data, ...rest.data].map(({ domain }: { domain: string }) => domain)
  assert.deepEqual(names, ['c.example', 'b.example', 'a.example'])
  const gone = await app.call('DELETE', '/api/v1/domains/B.example', { key })
  assert.deepEqual([gone.status, gone.body], [200, { domain: 'b.example', deleted: true }])
  const again = await app.call('DELETE', '/api/v1/domains/b.example', { key })
  assert.deepEqual([again.status, again.body.error.action], [404, undefined])
  assert.equal((await app.declare('b.example', key)).status, 201)
})

test('an account has so many domains and no more', async () => {
  const { key, accountId } = await app.makeAccount()
  await app.pools.db.run(sql`
    insert into domains (account_id, domain, token, next_check_at, created_at)
    select ${accountId}, 'd' || n || '.example', '', 'infinity', now() from generate_series(1, ${mostDomains}) n`)
  const reply = await app.declare('more.example', key)
  assert.deepEqual([reply.status, reply.body.error.code], [422, 'domain_limit_reached'])
  assert.equal((await app.declare('d1.example', key)).status, 200)
})

test('nothing of the private key is in the action log', async () => {
  const { key } = await app.makeAccount()
  await app.declare('logged.example', key)
  const { body } = await app.call('GET', '/api/v1/audit-logs?operation=domain.declare', { key })
  const [line] = body.data ?? []
  assert.deepEqual(line?.params, { domain: 'logged.example' })
})
