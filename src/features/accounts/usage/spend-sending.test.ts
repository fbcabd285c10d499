import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { type Caller, type Ctx, nobody } from '../../../kernel/ctx.ts'
import type { Db } from '../../../kernel/db.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import { insertAccount } from '../account/queries.ts'
import { makeKey, unrestricted } from '../keys/make-key.ts'
import { readUsage } from './read-usage.ts'
import { normalDomain, refuseForeignSender, spendSending } from './spend-sending.ts'

const { pools } = await makeApp()
const { db } = pools
const noon = new Date('2026-11-15T12:00:00.000Z')

let made = 0

async function makeCaller({ cap = null, quota = null }: { cap?: number | null; quota?: number | null }) {
  const account = { name: `spender ${++made}`, outreach: false, monthlyQuota: quota }
  const { id } = await insertAccount(db, account)
  return callerOf(id, cap)
}

async function callerOf(accountId: string, dailyCap: number | null): Promise<Caller> {
  const { id } = await makeKey(db, accountId, { ...unrestricted, dailyCap })
  return { ...nobody, accountId, keyId: id, dailyCap, scopes: null, senderDomains: null }
}

const ctxOf = (caller: Caller, now: Date, within: Db): Ctx => ({
  db: within,
  now,
  caller,
  requestId: 'req_test',
  cursorKey: Buffer.alloc(32),
  takesMarketing: true,
})

/** In a transaction of its own, as an accepted message is; gives 'ok' or the code of the refusal. */
async function spend(caller: Caller, count = 1, now = noon): Promise<string> {
  try {
    await db.transaction((tx) => spendSending(ctxOf(caller, now, tx), count))
    return 'ok'
  } catch (error) {
    if (error instanceof Refusal) return error.code
    throw error
  }
}

async function usage(caller: Caller, now = noon) {
  const { month, day, key } = await readUsage(ctxOf(caller, now, db))
  return { month: month.sent, day: day.sent, key: key.used_today, left: [month.remaining, key.remaining] }
}

const times = (count: number, word: string) => Array.from({ length: count }, () => word)

describe('cap and quota', () => {
  test('50 at once on a cap of 20: exactly 20 pass', async () => {
    const caller = await makeCaller({ cap: 20 })
    const results = await Promise.all(Array.from({ length: 50 }, () => spend(caller)))
    assert.deepEqual(results.sort(), [...times(30, 'daily_cap_reached'), ...times(20, 'ok')])
    assert.deepEqual(await usage(caller), { month: 20, day: 20, key: 20, left: [null, 0] })
  })

  test('50 at once on a quota of 20, through two keys: exactly 20 pass', async () => {
    const one = await makeCaller({ quota: 20 })
    const other = await callerOf(one.accountId, null)
    const results = await Promise.all(Array.from({ length: 50 }, (_, i) => spend(i % 2 ? one : other)))
    assert.deepEqual(results.sort(), [...times(30, 'monthly_quota_reached'), ...times(20, 'ok')])
    assert.equal((await usage(one)).month, 20)
  })

  test('batches pass whole or not at all', async () => {
    const caller = await makeCaller({ cap: 10 })
    assert.equal(await spend(caller, 11), 'daily_cap_reached')
    assert.equal(await spend(caller, 6), 'ok')
    assert.equal(await spend(caller, 5), 'daily_cap_reached')
    assert.equal(await spend(caller, 4), 'ok')
    assert.equal((await usage(caller)).key, 10)
  })

  test('the cap is the key’s, the quota the account’s', async () => {
    const capped = await makeCaller({ cap: 2, quota: 5 })
    const free = await callerOf(capped.accountId, null)
    assert.deepEqual([await spend(capped, 2), await spend(capped)], ['ok', 'daily_cap_reached'])
    assert.deepEqual([await spend(free, 3), await spend(free)], ['ok', 'monthly_quota_reached'])
    assert.deepEqual(await usage(free), { month: 5, day: 5, key: 3, left: [0, null] })
    assert.deepEqual(await usage(capped), { month: 5, day: 5, key: 2, left: [0, 0] })
  })

  test('a cap or quota of nothing lets nothing pass; without either there is no end', async () => {
    assert.equal(await spend(await makeCaller({ cap: 0 })), 'daily_cap_reached')
    assert.equal(await spend(await makeCaller({ quota: 0 })), 'monthly_quota_reached')
    const free = await makeCaller({})
    assert.equal(await spend(free, 1_000_000_000), 'ok')
    assert.equal(await spend(free, 2_000_000_000), 'ok')
    assert.equal((await usage(free)).month, 3_000_000_000)
  })

  test('accounts are counted apart', async () => {
    const [one, other] = [await makeCaller({ cap: 1 }), await makeCaller({ cap: 1 })]
    assert.deepEqual([await spend(one), await spend(other)], ['ok', 'ok'])
  })
})

describe('days and months', () => {
  test('the day changes at midnight UTC and the cap is new', async () => {
    const caller = await makeCaller({ cap: 1 })
    const [last, next] = [new Date('2026-11-15T23:59:59.999Z'), new Date('2026-11-16T00:00:00.000Z')]
    assert.deepEqual(
      [await spend(caller, 1, last), await spend(caller, 1, last)],
      ['ok', 'daily_cap_reached'],
    )
    assert.equal(await spend(caller, 1, next), 'ok')
    assert.deepEqual(await usage(caller, next), { month: 2, day: 1, key: 1, left: [null, 0] })
  })

  test('the month changes at midnight UTC and the quota is new, also at the end of a year', async () => {
    const caller = await makeCaller({ quota: 1 })
    const [last, next] = [new Date('2026-12-31T23:59:59.999Z'), new Date('2027-01-01T00:00:00.000Z')]
    assert.deepEqual(
      [await spend(caller, 1, last), await spend(caller, 1, last)],
      ['ok', 'monthly_quota_reached'],
    )
    assert.equal(await spend(caller, 1, next), 'ok')
    assert.equal((await usage(caller, next)).month, 1)
  })

  test('a refusal says what is left, where something is', async () => {
    const tell = async (caller: Caller, count: number) => {
      const work = db.transaction((tx) => spendSending(ctxOf(caller, noon, tx), count))
      return String(await work.catch((thrown: unknown) => thrown))
    }
    const [capped, limited] = [await makeCaller({ cap: 3 }), await makeCaller({ quota: 3 })]
    for (const caller of [capped, limited]) await spend(caller, 2)
    assert.match(await tell(capped, 2), /cap of the key, 3 messages, leaves 1 today, and this needs 2\.$/)
    assert.match(await tell(limited, 2), /The monthly quota of the account leaves 1, and this needs 2\.$/)
    for (const caller of [capped, limited]) await spend(caller)
    assert.match(await tell(capped, 2), /cap of the key, 3 messages, is reached\.$/)
    assert.match(await tell(limited, 2), /The monthly quota of the account is reached\.$/)
  })

  test('a refusal says when to come back, unless no day will have room', async () => {
    const tell = async (caller: Caller, count: number) => {
      const error = await spendSending(ctxOf(caller, noon, db), count).catch((thrown: unknown) => thrown)
      assert.ok(error instanceof Refusal)
      return [error.told.retryAfterSeconds, error.told.retryable]
    }
    const capped = await makeCaller({ cap: 2 })
    assert.equal(await spend(capped, 1), 'ok')
    assert.deepEqual(await tell(capped, 2), [12 * 3600, undefined])
    assert.deepEqual(await tell(capped, 3), [undefined, false])
    assert.deepEqual(await tell(await makeCaller({ cap: 0 }), 1), [undefined, false])
    assert.deepEqual(await tell(await makeCaller({ quota: 0 }), 1), [15 * 86_400 + 12 * 3600, undefined])
  })
})

test('nothing is counted when the transaction that accepts fails', async () => {
  const caller = await makeCaller({ cap: 5, quota: 5 })
  const work = db.transaction(async (tx) => {
    await spendSending(ctxOf(caller, noon, tx), 3)
    throw new Error('planted')
  })
  await assert.rejects(work, /planted/)
  assert.deepEqual(await usage(caller), { month: 0, day: 0, key: 0, left: [5, 5] })
  assert.equal(await spend(caller, 5), 'ok')
})

describe('sender domains', () => {
  const allowed = ['shop.example', 'xn--bcher-kva.example']
  const isAllowed = (domain: string, senderDomains: string[] | null = allowed) => {
    try {
      refuseForeignSender({ ...nobody, senderDomains }, domain)
      return true
    } catch (error) {
      assert.ok(error instanceof Refusal)
      assert.deepEqual([error.code, error.told.param], ['sender_domain_not_allowed', 'from'])
      return false
    }
  }

  test('case, a final dot and the spelling of an international name make no difference', () => {
    for (const domain of ['shop.example', 'SHOP.Example', 'shop.example.', ' shop.example ']) {
      assert.equal(isAllowed(domain), true, domain)
    }
    for (const domain of [
      'bücher.example',
      'BÜCHER.example',
      'XN--BCHER-KVA.example',
      'bu\u0308cher.example',
    ]) {
      assert.equal(isAllowed(domain), true, domain)
    }
  })

  test('a subdomain, a parent and a look-alike are other domains', () => {
    const others = [
      'mail.shop.example',
      'example',
      'myshop.example',
      'shop.example.org',
      'shop',
      'bucher.example',
    ]
    const tricks = [
      '',
      'not a domain',
      'shop.example/x',
      'shop.example?',
      'shop.example#x',
      'shop.example:25',
    ]
    const more = ['sh%6fp.example', 'shop.exa\tmple', 'shop.example\\x', 'x@shop.example', '.', '..']
    for (const domain of [...others, ...tricks, ...more]) {
      assert.equal(isAllowed(domain), false, domain)
    }
  })

  test('a key without domains sends from any; a key with none of them from nowhere', () => {
    assert.equal(isAllowed('anything.example', null), true)
    assert.equal(isAllowed('shop.example', []), false)
    assert.equal(isAllowed('', []), false)
  })

  test('a domain is stored as it is compared', () => {
    assert.equal(normalDomain('BÜCHER.example.'), 'xn--bcher-kva.example')
  })
})
