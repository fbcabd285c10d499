import { createHash } from 'node:crypto'
import type { Db } from '../kernel/db.ts'
import { canonicalJson } from '../kernel/json.ts'
import { idempotencyInProgress, idempotencyKeyReused, invalidParameter } from '../kernel/refusals.ts'
import { findIdempotencyKey, lockIdempotencyKey, rememberReply } from './queries.ts'

const rememberMs = 24 * 3_600_000
export const longestIdempotencyKey = 255

export type Claim = { accountId: string; operation: string; key: string; fingerprint: Buffer }
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
 * Gives the remembered reply, or nothing when this call is the one that acts. Lock and look-up are two
 * statements on purpose: a single one would look at the table as it was before it had the lock.
 */
export async function claimIdempotencyKey(tx: Db, claim: Claim, now: Date): Promise<Reply | undefined> {
  const { locked } = await lockIdempotencyKey(tx, claim)
  if (!locked) throw idempotencyInProgress({ retryAfterSeconds: 1 })
  const known = await findIdempotencyKey(tx, claim, now)
  if (!known) return undefined
  if (!known.fingerprint.equals(claim.fingerprint)) throw idempotencyKeyReused({ param: 'Idempotency-Key' })
  return { status: known.status, body: known.reply }
}

export function rememberAnswer(tx: Db, claim: Claim, reply: Reply, now: Date) {
  return rememberReply(tx, claim, {
    fingerprint: claim.fingerprint,
    status: reply.status,
    reply: reply.body,
    expiresAt: new Date(now.getTime() + rememberMs),
  })
}
