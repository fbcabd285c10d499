import type { Db } from '../../../kernel/db.ts'
import { hashKey } from '../keys/find-caller.ts'
import { newSecret, storeKey, unrestricted } from '../keys/make-key.ts'
import { findKeyOwner, replaceFirstKeys, restoreFirstKey } from '../keys/queries.ts'
import { firstAccountName } from './public-name.ts'
import { findFirstAccount, insertAccount, lockFirstAccount } from './queries.ts'

/**
 * Makes the first account and its key when there are none. A key given by the operator is in force on
 * every start, in place of the one before. Gives the key only when it was made just now.
 */
export function ensureFirstAccount(
  db: Db,
  givenKey: string | undefined,
): Promise<{ madeKey: string | null }> {
  return db.transaction(async (tx) => {
    // Several processes may start on an empty database at once.
    await lockFirstAccount(tx)
    const existing = await findFirstAccount(tx)
    const account =
      existing ?? (await insertAccount(tx, { name: firstAccountName, outreach: true, monthlyQuota: null }))
    if (givenKey !== undefined) await enforceKey(tx, account.id, givenKey)
    if (existing || givenKey !== undefined) return { madeKey: null }
    const madeKey = newSecret('live')
    await storeKey(tx, account.id, unrestricted, { key: madeKey, isFirst: true })
    return { madeKey }
  })
}

export class KeyTaken extends Error {}

async function enforceKey(tx: Db, accountId: string, key: string): Promise<void> {
  const hash = hashKey(key)
  const owner = await findKeyOwner(tx, hash)
  if (owner && owner.account_id !== accountId) {
    throw new KeyTaken('POSTHORN_API_KEY is the key of another account; choose another value')
  }
  if (owner) await restoreFirstKey(tx, accountId, hash)
  else await storeKey(tx, accountId, { ...unrestricted, mode: modeOf(key) }, { key, isFirst: true })
  await replaceFirstKeys(tx, accountId, hash)
}

/** A key that calls itself a test key must not send for real. */
function modeOf(key: string): 'live' | 'test' {
  return key.startsWith('phk_test_') ? 'test' : 'live'
}
