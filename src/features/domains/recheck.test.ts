import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Zone } from '../../../test/stand-ins/dns-server.ts'
import { maybe, row, time } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { type Body, makeDomainApp, recordOf } from './fixtures/app.ts'
import type { Broken } from './look-at-domain.ts'

const app = await makeDomainApp({ env: { POSTHORN_WEBHOOK_ALLOW_PRIVATE: 'true' } })
const { zone } = app
const dkimName = (body: Body) => `${recordOf(body, 'dkim').host} TXT`

const openNotices = async (domain: string, key = app.key): Promise<Body[]> => {
  const { body } = await app.call('GET', '/api/v1/notices?open=true', { key })
  return body.data.filter(({ subject }: Body) => subject === domain)
}

async function verified(domain: string): Promise<Body> {
  app.publish((await app.declare(domain)).body.records)
  return app.verify(domain)
}

test('a new domain is seen by itself soon after its records are there', async () => {
  const { body } = await app.declare('soon.example')
  app.publish(body.records)
  await app.recheck()
  assert.equal((await app.read('soon.example')).status, 'pending', 'too early')
  app.later(0.05)
  await app.recheck()
  assert.equal((await app.read('soon.example')).status, 'verified')
})

test('what breaks is told once, and the notice goes when it is mended', async () => {
  const told: Broken[] = []
  const onBroken = async (_db: unknown, broken: Broken) => void told.push(broken)
  const host = dkimName(await verified('breaks.example'))
  const kept = zone[host]
  assert.ok(kept)
  delete zone[host]
  app.later(23)
  app.later(4)
  await app.recheck({ onBroken })
  const broken = await app.read('breaks.example')
  assert.deepEqual([broken.status, broken.dkim.state], ['failed', 'missing'])
  const [notice, ...others] = await openNotices('breaks.example')
  assert.deepEqual([notice.code, others], ['domain_broken', []])
  assert.deepEqual(
    notice.details.records.map(({ role, state }: Body) => [role, state]),
    [['dkim', 'missing']],
  )
  assert.deepEqual(
    told.map(({ accountId, domain, status }) => [accountId, domain, status]),
    [[app.accountId, 'breaks.example', 'failed']],
  )
  app.later(2)
  await app.recheck({ onBroken })
  assert.equal(told.length, 1)

  // Something else of it breaks too: that is news.
  delete zone['breaks.example TXT']
  app.later(2)
  await app.recheck({ onBroken })
  assert.equal(told.length, 2)

  zone[host] = kept
  zone['breaks.example TXT'] = ['v=spf1 include:spf.posthorn.example ~all']
  app.later(2)
  await app.recheck({ onBroken })
  assert.equal((await app.read('breaks.example')).status, 'verified')
  assert.deepEqual(await openNotices('breaks.example'), [])
  assert.equal(told.length, 2)
})

test('the notice says what is broken now, not only what broke first', async () => {
  const host = dkimName(await verified('worse.example'))
  const kept = zone[host]
  assert.ok(kept)
  const told = async () => {
    await app.verify('worse.example')
    const open = await openNotices('worse.example')
    assert.equal(open.length, 1)
    const [{ id, message, details }] = open
    return { id, message, status: details.status, roles: details.records.map(({ role }: Body) => role) }
  }
  delete zone['worse.example TXT']
  const first = await told()
  assert.deepEqual([first.status, first.roles], ['verified', ['spf']])
  delete zone[host]
  const second = await told()
  assert.notEqual(second.id, first.id)
  assert.deepEqual([second.status, second.roles], ['failed', ['dkim', 'spf']])
  assert.match(second.message, /^The authentication of the domain worse\.example broke/)
  zone[host] = 'fails'
  assert.deepEqual(await told(), second, 'an outage changes nothing')
  zone[host] = kept
  const third = await told()
  assert.deepEqual([third.id, third.status, third.roles], [second.id, 'verified', ['spf']])
  assert.match(third.message, /^A record of the domain worse\.example broke/)
})

test('an outage of DNS breaks nothing', async () => {
  await verified('outage.example')
  const name = dkimName(await app.read('outage.example'))
  const kept = zone[name]
  assert.ok(kept)
  zone[name] = 'fails'
  app.later(27)
  await app.recheck()
  const body = await app.read('outage.example')
  assert.deepEqual([body.status, body.dkim.state], ['verified', 'unreadable'])
  assert.deepEqual(await openNotices('outage.example'), [])
  zone[name] = kept
  app.later(0.4)
  await app.recheck()
  assert.equal((await app.read('outage.example')).dkim.state, 'ok')
})

test('since when a domain is not proven any more is kept, whatever DNS fails to answer', async () => {
  const found = async (domain: string) => {
    const [one] = await app.pools.db.many(
      row<{ since: Date | null }>({ since: maybe(time) }),
      sql`select unproven_since as since from domains where account_id = ${app.accountId} and domain = ${domain}`,
    )
    return one?.since?.getTime() ?? null
  }
  await app.declare('never-proven.example')
  await app.verify('never-proven.example')
  assert.equal(await found('never-proven.example'), null)
  const body = await verified('unproven.example')
  const names = [dkimName(body), `${recordOf(body, 'verification').host} TXT`]
  const kept = names.map((name) => zone[name] ?? [])
  const look = async (answers: Zone[string][]) => {
    names.forEach((name, i) => {
      zone[name] = answers[i] ?? []
    })
    app.later(1)
    await app.verify('unproven.example')
    return found('unproven.example')
  }
  assert.equal(await look([[], kept[1] ?? []]), null, 'the token proves it as well')
  const since = await look([[], []])
  assert.equal(since, app.clock.now.getTime())
  assert.equal(await look(['fails', 'fails']), since)
  assert.equal(await look([[], []]), since)
  assert.equal(await look(kept), null)
})

test('a domain that is never proven fails after three days, without a notice', async () => {
  await app.declare('forgotten.example')
  app.later(71)
  await app.recheck()
  assert.equal((await app.read('forgotten.example')).status, 'pending')
  app.later(8)
  await app.recheck()
  assert.equal((await app.read('forgotten.example')).status, 'failed')
  assert.deepEqual(await openNotices('forgotten.example'), [])
  app.publish((await app.read('forgotten.example')).records)
  app.later(8)
  await app.recheck()
  assert.equal((await app.read('forgotten.example')).status, 'verified')
})

test('two processes share the work, and each domain is looked at once', async () => {
  await verified('shared-work.example')
  app.later(30)
  const asked: string[] = []
  const dns = {
    ...app.needs.dns,
    txt: (name: string) => {
      asked.push(name)
      return app.needs.dns.txt(name)
    },
  }
  await Promise.all([app.recheck({ dns }), app.recheck({ dns })])
  const challenge = asked.filter((name) => name === '_posthorn-challenge.shared-work.example')
  assert.equal(challenge.length, 1)
})

test('deleting a broken domain ends its notice', async () => {
  const host = dkimName(await verified('ends.example'))
  delete zone[host]
  app.later(30)
  await app.recheck()
  assert.equal((await openNotices('ends.example')).length, 1)
  await app.call('DELETE', '/api/v1/domains/ends.example')
  assert.deepEqual(await openNotices('ends.example'), [])
})

test('a webhook that asks for it is to be told of a break', async () => {
  const webhook = { url: 'http://127.0.0.1:8080/hook', events: ['domainBroken'] }
  const { body: made, status, text } = await app.call('POST', '/v3/webhooks', { body: webhook })
  assert.equal(status, 201, text)
  const host = dkimName(await verified('told.example'))
  delete zone[host]
  app.later(27)
  await app.recheck()
  const { body } = await app.call('GET', `/v3/webhooks/${made.id}/deliveries`)
  assert.deepEqual(
    body.deliveries.map(({ event }: Body) => event),
    ['domain_broken'],
  )
})
