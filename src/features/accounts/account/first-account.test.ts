import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { makeDatabase } from '../../../../test/app.ts'
import { silentLog } from '../../../kernel/log.ts'
import { openPools } from '../../../main/wire.ts'
import { callerFinder } from '../keys/find-caller.ts'
import { makeKey, unrestricted } from '../keys/make-key.ts'
import { listKeys, revokeKey } from '../keys/queries.ts'
import { ensureFirstAccount, KeyTaken } from './first-account.ts'
import { insertAccount, listAccounts } from './queries.ts'

async function emptyService() {
  const pools = openPools({ url: await makeDatabase(), log: silentLog, strict: true })
  after(() => pools.close())
  const { db } = pools
  // A finder of its own each time, because a finder remembers for some seconds.
  const callerOf = async (key: string) => (await callerFinder(db)(key, now))?.caller
  return { db, callerOf, start: (key?: string) => ensureFirstAccount(db, key) }
}

const now = new Date('2026-11-15T12:00:00Z')
const given = 'operator-chosen-key-0001'
const other = 'operator-chosen-key-0002'

test('the first start makes one account and one unrestricted key, and gives it out once', async () => {
  const { db, callerOf, start } = await emptyService()
  const { madeKey } = await start()
  assert.match(madeKey ?? '', /^phk_live_[0-9A-Za-z]{32}$/)
  assert.equal((await start()).madeKey, null)
  const accounts = await listAccounts(db)
  assert.deepEqual(
    accounts.map(({ outreach_enabled, monthly_quota }) => [outreach_enabled, monthly_quota]),
    [[true, null]],
  )
  const caller = await callerOf(madeKey ?? '')
  assert.deepEqual(
    [caller?.accountId, caller?.mode, caller?.scopes, caller?.dailyCap, caller?.senderDomains],
    [accounts[0]?.id, 'live', null, null, null],
  )
})

test('many processes that start together make one account, and one of them gives out the key', async () => {
  const { db, start } = await emptyService()
  const keys = await Promise.all(Array.from({ length: 8 }, () => start()))
  assert.equal(keys.filter(({ madeKey }) => madeKey !== null).length, 1)
  assert.equal((await listAccounts(db)).length, 1)
  assert.equal((await listKeys(db, undefined)).length, 1)
})

test('many processes that start together with the same given key store it once', async () => {
  const { db, callerOf, start } = await emptyService()
  await Promise.all(Array.from({ length: 8 }, () => start(given)))
  assert.equal((await listKeys(db, undefined)).length, 1)
  assert.ok(await callerOf(given))
})

test('a given key is in force on every start, whatever was done to it since', async () => {
  const { db, callerOf, start } = await emptyService()
  assert.equal((await start(given)).madeKey, null)
  const [key] = await listKeys(db, undefined)
  await revokeKey(db, key?.id ?? '')
  assert.equal(await callerOf(given), undefined)
  await start(given)
  const caller = await callerOf(given)
  assert.deepEqual([caller?.keyId, caller?.scopes, caller?.dailyCap], [key?.id, null, null])
})

test('another given key takes the place of the one before, and of the one made at first', async () => {
  const { callerOf, start } = await emptyService()
  const { madeKey } = await start()
  await start(given)
  assert.equal(await callerOf(madeKey ?? ''), undefined)
  await start(other)
  assert.deepEqual([await callerOf(given), (await callerOf(other))?.scopes], [undefined, null])
  await start(given)
  assert.deepEqual([await callerOf(other), (await callerOf(given))?.scopes], [undefined, null])
})

test('keys made by hand stay when the given key changes', async () => {
  const { db, callerOf, start } = await emptyService()
  await start(given)
  const [account] = await listAccounts(db)
  const { key } = await makeKey(db, account?.id ?? '', { ...unrestricted, scopes: ['email.send'] })
  await start(other)
  assert.deepEqual((await callerOf(key))?.scopes, ['email.send'])
})

test('a restricted key that is given as the first key loses its restrictions', async () => {
  const { db, callerOf, start } = await emptyService()
  await start()
  const [account] = await listAccounts(db)
  const restrictions = { scopes: ['email.send'], dailyCap: 1, senderDomains: ['a.example'] }
  const { key } = await makeKey(db, account?.id ?? '', { ...unrestricted, ...restrictions })
  await start(key)
  const caller = await callerOf(key)
  assert.deepEqual([caller?.scopes, caller?.dailyCap, caller?.senderDomains], [null, null, null])
})

test('the key of another account is refused', async () => {
  const { db, start } = await emptyService()
  await start()
  const { id } = await insertAccount(db, { name: 'other', outreach: false, monthlyQuota: null })
  const { key } = await makeKey(db, id, unrestricted)
  await assert.rejects(start(key), (error) => error instanceof KeyTaken && !error.message.includes(key))
})

test('a given key that says it is a test key is one', async () => {
  const { callerOf, start } = await emptyService()
  await start('phk_test_operator-chosen-0001')
  assert.equal((await callerOf('phk_test_operator-chosen-0001'))?.mode, 'test')
})

test('of a key only a hash and a short beginning are stored', async () => {
  const { db, start } = await emptyService()
  const { madeKey } = await start()
  await start(given)
  for (const { prefix } of await listKeys(db, undefined)) {
    const whole = [madeKey ?? '', given].find((key) => key.startsWith(prefix)) ?? ''
    assert.ok(prefix.length >= 8 && prefix.length <= whole.length / 2, prefix)
  }
})
