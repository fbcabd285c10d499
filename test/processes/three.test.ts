// Three processes on one database, from the moment when it is empty.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Reply } from '../app.ts'
import { makeEmptyDatabase, query } from './empty-database.ts'
import { eventually, makePlace, run, type Service, start } from './posthorn.ts'

const key = 'the-one-key-of-three-processes'
const env = { DATABASE_URL: await makeEmptyDatabase(), POSTHORN_API_KEY: key }
const places = await Promise.all([1, 2, 3].map(() => makePlace(env)))
let services: Service[] = []

const spread = (count: number, path: string): Promise<Reply[]> =>
  Promise.all(
    Array.from({ length: count }, (_, i) => services[i % services.length] as Service).map((service) =>
      service.call('GET', path, { key }),
    ),
  )

const tally = (replies: Reply[]) => {
  const counts: Record<number, number> = {}
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

after(() => Promise.all(services.map((service) => service.end('SIGKILL'))))

test('three that start together on an empty database all come up, with one account', async () => {
  services = await Promise.all(places.map((place) => start(place, '--role', 'api')))
  assert.deepEqual(tally(await spread(3, '/readyz')), { 200: 3 })
  const counts = await query(
    env.DATABASE_URL,
    `select (select count(*)::int from accounts) as accounts, (select count(*)::int from api_keys) as keys,
            (select count(*)::int from installation) as installations,
            (select count(*) = count(distinct name) from schema_migrations) as once`,
  )
  assert.deepEqual(counts, [{ accounts: 1, keys: 1, installations: 1, once: true }])
})

test('a limit of 50 a minute holds over all three: of 200 requests exactly 50 pass', async () => {
  const [place] = places
  assert.ok(place)
  const [account] = await query<{ id: string }>(env.DATABASE_URL, 'select id from accounts')
  const limited = await run(place, 'account', 'limit', account?.id ?? '', 'usage.get', '50')
  assert.deepEqual([limited.code, limited.err], [0, ''])
  // What a process knows of a key it forgets after a few seconds.
  const limitSeen = async (service: Service) =>
    (await service.call('GET', '/api/v1/usage', { key })).headers.get('ratelimit-limit') === '50'
  await Promise.all(services.map((service) => eventually(() => limitSeen(service))))
  await query(env.DATABASE_URL, 'delete from rate_windows')
  const replies = await spread(200, '/api/v1/usage')
  assert.deepEqual(tally(replies), { 200: 50, 429: 150 })
  for (const { status, headers, body } of replies) {
    assert.equal(headers.get('ratelimit-limit'), '50')
    if (status === 429) assert.deepEqual([body.error.code, body.error.retryable], ['rate_limited', true])
  }
})

test('what one process changes the others show', async () => {
  const [first, second] = services
  const body = { timezone: 'Asia/Tokyo' }
  await first?.call('PUT', '/api/v1/settings', { key, body })
  assert.equal((await second?.call('GET', '/api/v1/settings', { key }))?.body.timezone, 'Asia/Tokyo')
})

test('a cursor of one process works in another', async () => {
  const [first, second] = services
  const page = await first?.call('GET', '/api/v1/audit-logs?limit=1', { key })
  const next = await second?.call('GET', `/api/v1/audit-logs?limit=1&cursor=${page?.body.next_cursor}`, {
    key,
  })
  assert.equal(next?.status, 200)
})

test('one that is killed in the midst of requests does not hinder the others', async () => {
  const [victim, ...others] = services
  assert.ok(victim)
  const during = Array.from({ length: 30 }, () =>
    victim.call('GET', '/api/v1/settings', { key }).catch(() => null),
  )
  assert.equal((await victim.end('SIGKILL')).signal, 'SIGKILL')
  await Promise.all(during)
  services = others
  assert.deepEqual(tally(await spread(60, '/api/v1/settings')), { 200: 60 })
  const body = { timezone: 'Europe/Rome' }
  assert.equal((await others[0]?.call('PUT', '/api/v1/settings', { key, body }))?.status, 200)
})

test('the others stop cleanly', async () => {
  const ends = await Promise.all(services.map((service) => service.end('SIGTERM')))
  assert.deepEqual(
    ends.map(({ code }) => code),
    [0, 0],
  )
})
