import { createHash } from 'node:crypto'
import type { Db } from '../kernel/db.ts'
import { canonicalJson } from '../kernel/json.ts'
import type { Refusal } from '../kernel/refusal.ts'
import { idempotencyInProgress, idempotencyKeyReused, invalidParameter } from '../kernel/refusals.ts'
import { findIdempotencyKeys, lockIdempotencyKeys, type RememberedRow, rememberReplies } from './queries.ts'

const usualRememberMs = 24 * 3_600_000
export const longestIdempotencyKey = 255

export type Claim = {
  accountId: string
  operation: string
  key: string
  fingerprint: Buffer
  rememberMs?: number
}
export type Reply = { status: number; body: string }

export function readIdempotencyKey(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  // NUL cannot be stored, and no client means it.
  if (header.length > 0 && header.length <= longestIdempotencyKey && !header.includes('\0')) return header
  throw invalidParameter({
    message: `An Idempotency-Key has 1 to ${longestIdempotencyKey} characters.`,
    param: 'Idempotency-Key',
  })
}

export function fingerprintOf(input: unknown): Buffer {
  return createHash('sha256').update(canonicalJson(input)).digest()
}

/**
 * For each claim: the remembered reply, a refusal, or nothing when this call is the one that acts. Lock and look-up
 * are two statements on purpose: a single one would look at the table as it was before it had the lock.
 */
export async function claimAll(tx: Db, claims: Claim[], now: Date): Promise<(Reply | Refusal | undefined)[]> {
  if (claims.length === 0) return []
  const locks = await lockIdempotencyKeys(tx, claims)
  const found = await findIdempotencyKeys(tx, claims, now)
  const known = new Map(found.map((one) => [nameOf({ ...one, accountId: one.account_id }), one]))
  const seen = new Set<string>()
  return claims.map((claim, i) => {
    const name = nameOf(claim)
    // The lock is the transaction's, so two equal claims of one batch both hold it: the first acts.
    const isSecond = seen.has(name)
    seen.add(name)
    const remembered = known.get(name)
    if (remembered) return replay(remembered, claim)
    if (locks[i]?.locked && !isSecond) return undefined
    return idempotencyInProgress({ retryAfterSeconds: 1 })
  })
}

function replay(found: RememberedRow, { fingerprint }: Claim): Reply | Refusal {
  if (!found.fingerprint.equals(fingerprint)) return idempotencyKeyReused({ param: 'Idempotency-Key' })
  return { status: found.status, body: found.reply }
}

export function nameOf({
  accountId,
  operation,
  key,
}: Pick<Claim, 'accountId' | 'operation' | 'key'>): string {
  return JSON.stringify([accountId, operation, key])
}

export type Answered = { claim: Claim; reply: Reply }

export async function rememberAll(tx: Db, answered: Answered[], now: Date): Promise<void> {
  if (answered.length === 0) return
  const expiryOf = ({ rememberMs = usualRememberMs }: Claim) => new Date(now.getTime() + rememberMs)
  await rememberReplies(
    tx,
    answered.map(({ claim, reply: { status, body } }) => ({
      ...claim,
      status,
      reply: body,
      expiresAt: expiryOf(claim),
    })),
  )
}
