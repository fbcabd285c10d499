import { randomInt } from 'node:crypto'
import type { Db } from '../../../kernel/db.ts'
import { newUuid } from '../../../kernel/id.ts'
import { hashKey } from './find-caller.ts'
import { insertKey } from './queries.ts'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
// 32 letters of 62 carry 190 random bits, and a double click selects the whole key.
const secretLength = 32
const shownLength = 'phk_live_'.length + 5

export type KeyRestrictions = {
  name: string
  mode: 'live' | 'test'
  scopes: string[] | null
  dailyCap: number | null
  senderDomains: string[] | null
  expiresAt: Date | null
}

export const unrestricted: KeyRestrictions = {
  name: 'first key',
  mode: 'live',
  scopes: null,
  dailyCap: null,
  senderDomains: null,
  expiresAt: null,
}

export function newSecret(mode: 'live' | 'test'): string {
  const letters = Array.from({ length: secretLength }, () => alphabet[randomInt(alphabet.length)])
  return `phk_${mode}_${letters.join('')}`
}

/** Makes a key and gives it out; afterwards only its hash is known. */
export async function makeKey(db: Db, accountId: string, restrictions: KeyRestrictions) {
  const key = newSecret(restrictions.mode)
  const id = await storeKey(db, accountId, restrictions, { key, isFirst: false })
  return { id, key, prefix: shownPart(key) }
}

export async function storeKey(
  db: Db,
  accountId: string,
  restrictions: KeyRestrictions,
  { key, isFirst }: { key: string; isFirst: boolean },
): Promise<string> {
  const id = newUuid()
  await insertKey(db, { ...restrictions, id, accountId, hash: hashKey(key), prefix: shownPart(key), isFirst })
  return id
}

// A key given by the operator may be short: never show more than a third of it.
function shownPart(key: string): string {
  return key.slice(0, Math.min(shownLength, Math.floor(key.length / 3)))
}
