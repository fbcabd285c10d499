// What an operation does before its transaction, mostly over the network. For one idempotency key it is done once: not
// for an answer that is remembered, which must come whatever the network says by now, and not beside the first call.
import type { Db } from '../kernel/db.ts'
import { idempotencyInProgress } from '../kernel/refusals.ts'
import { ctxOf, type Pending } from './act.ts'
import type { Gates } from './gates.ts'
import { type Claim, nameOf } from './idempotency.ts'
import { findIdempotencyKeys } from './queries.ts'

export async function prepare(gates: Gates, pending: Pending): Promise<Pending> {
  const { admission, claim } = pending
  if (!admission.op.prepare) return pending
  if (!claim) return prepared(gates, pending)
  const isRemembered = await gates.db.gathered(areRemembered, { claim, now: admission.now })
  if (isRemembered) return { ...pending, isRemembered: true }
  return alone(gates, claim, () => prepared(gates, pending))
}

type Ask = { claim: Claim; now: Date }

async function areRemembered(db: Db, asks: Ask[]): Promise<boolean[]> {
  const [first] = asks
  if (!first) return []
  const claims = asks.map(({ claim }) => claim)
  const found = await findIdempotencyKeys(db, claims, first.now)
  const names = new Set(found.map((one) => nameOf({ ...one, accountId: one.account_id })))
  return asks.map(({ claim }) => names.has(nameOf(claim)))
}

async function prepared(gates: Gates, pending: Pending): Promise<Pending> {
  const { admission, input } = pending
  const made = await admission.op.prepare?.(ctxOf(gates, admission, gates.db), input as never)
  return { ...pending, input: made ?? input, asked: input }
}

async function alone<T>({ preparing }: Gates, claim: Claim, work: () => Promise<T>): Promise<T> {
  const name = nameOf(claim)
  if (preparing.has(name)) throw idempotencyInProgress({ retryAfterSeconds: 1 })
  preparing.add(name)
  try {
    return await work()
  } finally {
    preparing.delete(name)
  }
}
