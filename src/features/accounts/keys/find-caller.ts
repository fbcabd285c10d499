// From the key a request carries to who is calling. Rows are kept for a few seconds, so that a busy
// client costs one look-up every three seconds and a revoked key stops working as quickly.
import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Caller } from '../../../kernel/ctx.ts'
import type { Db } from '../../../kernel/db.ts'
import { findKeyByHash } from './queries.ts'

export type KnownCaller = { caller: Caller; expiresAt: Date | null; limits: Record<string, number> }
export type FindCaller = ((key: string, now: Date) => Promise<KnownCaller | undefined>) & {
  /** What callers are known by was changed in this process: other processes see it within seconds. */
  forget(): void
}

export const keyCacheMs = 3_000

export function hashKey(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}

export function callerFinder(db: Db): FindCaller {
  const recent = new LRUCache<string, Promise<KnownCaller | undefined>>({ max: 10_000, ttl: keyCacheMs })

  function lookUp(key: string): Promise<KnownCaller | undefined> {
    const known = recent.get(key)
    if (known) return known
    // The promise is what is kept: requests that arrive together share one look-up.
    const found = load(db, hashKey(key))
    recent.set(key, found)
    const forget = () => recent.get(key) === found && recent.delete(key)
    found.then((caller) => caller || forget(), forget)
    return found
  }

  const find = async (key: string, now: Date) => {
    const found = await lookUp(key)
    return found && (found.expiresAt === null || found.expiresAt > now) ? found : undefined
  }
  return Object.assign(find, { forget: () => recent.clear() })
}

async function load(db: Db, digest: Buffer): Promise<KnownCaller | undefined> {
  const found = await findKeyByHash(db, digest)
  if (!found) return undefined
  return {
    caller: {
      accountId: found.account_id,
      keyId: found.id,
      keyName: found.name,
      mode: found.mode,
      scopes: found.scopes,
      dailyCap: found.daily_cap,
      senderDomains: found.sender_domains,
      verifiedSenderOnly: found.verified_sender_only,
      hasQuota: found.has_quota,
    },
    expiresAt: found.expires_at,
    limits: found.limits,
  }
}
