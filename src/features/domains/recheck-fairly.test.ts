import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../test/until.ts'
import type { Dns } from '../../kernel/ports.ts'
import { sql } from '../../kernel/sql.ts'
import { makeDomainApp } from './fixtures/app.ts'
import { type Claim, claimDue, listDomains } from './queries.ts'

const app = await makeDomainApp()
const { db } = app.pools

/** Due for so many minutes; `prefix0.example` and so on. */
async function due(prefix: string, count: number, minutes: number) {
  const { accountId } = await app.makeAccount()
  await db.run(sql`
    insert into domains (account_id, domain, token, next_check_at, created_at)
    select ${accountId}, ${prefix} || n || '.example', 'x=' || n,
           ${app.clock.now}::timestamptz - make_interval(mins => ${minutes}), ${app.clock.now}
      from generate_series(0, ${count - 1}) n`)
  return accountId
}

const none = async () => 'none' as const
const others = { mx: none, cname: none, addresses: none, exists: async () => false }

/** Domains are begun with the question for their SPF record, which waits for `answer`. */
function watched(answer: (domain: string) => Promise<void>) {
  const begun = new Set<string>()
  const txt = async (name: string) => {
    if (!/^[a-z]+\d+\.example$/.test(name)) return 'none' as const
    begun.add(name)
    await answer(name)
    return 'none' as const
  }
  const dns: Dns = { ...others, txt }
  return { dns, begun }
}

const countChecked = async (accountId: string) =>
  (await listDomains(db, accountId, { limit: 500 })).filter(({ checked_at }) => checked_at !== null).length

test('an account with many domains that are never answered for does not hold up the others', async () => {
  const many = await due('silent', 8, 60)
  const few = [await due('quick', 2, 1), await due('late', 1, 0)]
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const { dns, begun } = watched(async (name) => {
    if (name.startsWith('silent')) await released
  })
  const turn = app.recheck({ dns })
  const silent = () => [...begun].filter((name) => name.startsWith('silent'))
  await until(
    async () => (await Promise.all(few.map(countChecked))).join() === '2,1',
    'the others to be checked',
  )
  await until(async () => silent().length >= 3, 'as many as an account may have at once to be begun')
  assert.deepEqual([silent().length, await countChecked(many)], [3, 0])
  release()
  await turn
  assert.deepEqual([silent().length, await countChecked(many)], [8, 8])
})

test('domains are taken from one account after the other, and again when a process died over them', async () => {
  const [one, two, three] = [await due('one', 30, 90), await due('two', 30, 60), await due('three', 1, 1)]
  const { now } = app.clock
  const claim = (more: Partial<Claim>) =>
    claimDue(db, { now, until: later, limit: 7, mostOfOne: 3, counts: [], ...more })
  const later = new Date(now.getTime() + 5 * 60_000)
  const shares = (claimed: { account_id: string }[]) =>
    [one, two, three].map((id) => claimed.filter(({ account_id }) => account_id === id).length)
  assert.deepEqual(shares(await claim({})), [3, 3, 1])
  const counts = [
    { accountId: one, begun: 9, running: 1 },
    { accountId: two, begun: 3, running: 0 },
  ]
  assert.deepEqual(shares(await claim({ counts, limit: 2 })), [0, 2, 0], 'who had fewer is first')
  assert.deepEqual(shares(await claim({ counts })), [2, 3, 0], 'and nobody has more at once than they may')
  const counted = (await claim({ limit: 100, mostOfOne: 100 })).length
  assert.equal(counted, 61 - 7 - 2 - 5)
  assert.deepEqual(await claim({ limit: 100, mostOfOne: 100 }), [])
  // Nobody kept anything.
  assert.deepEqual(shares(await claim({ now: later, limit: 100, mostOfOne: 100 })), [30, 30, 1])
})
