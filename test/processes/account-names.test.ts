// How an account that is made gets its name. On a database of its own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeEmptyDatabase } from './empty-database.ts'
import { makePlace, run } from './posthorn.ts'

const place = await makePlace({ DATABASE_URL: await makeEmptyDatabase(), POSTHORN_LOG_LEVEL: 'silent' })

const say = (...args: string[]) => run(place, ...args)
const asJson = async (...args: string[]) => JSON.parse((await say(...args, '--json')).out)

test('an account is named by the argument or by --name, not by both, and else after its number', async () => {
  const unnamed = await asJson('account', 'create', '--outreach')
  const named = await asJson('account', 'create', '--name', 'Third')
  assert.equal((await say('account', 'create', 'a', '--name', 'b')).code, 2)
  const accounts: { id: string; name: string }[] = await asJson('account', 'list')
  assert.deepEqual(
    accounts.filter(({ name }) => name !== 'default').map(({ id, name }) => [id, name]),
    [
      [unnamed.account, `account ${unnamed.account}`],
      [named.account, 'Third'],
    ],
  )
})
