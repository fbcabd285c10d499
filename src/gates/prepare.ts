// What an operation does before its transaction, mostly over the network. For one idempotency key it is done once: not
// for an answer that is remembered, which must come whatever the network says by now, and not beside the first call.
import type { Db } from '../kernel/db.ts'
import { idempotencyInProgress } from '../kernel/refusals.ts'
import { ctxOf, type Pending } from './act.ts'
import type { Gates } from './gates.ts'
import { type Claim, nameOf } from './idempotency.ts'
import { findIdempotencyKeys } from './queries.ts'
import type { RawInput } from './validate.ts'

type Act<T> = (pending: Pending) => Promise<T>

export async function prepare<T>(gates: Gates, pending: Pending, act: Act<T>): Promise<T> {
  const { admission, claim } = pending
  if (!admission.op.prepare) return act(pending)
  if (!claim) return inTurn(gates, pending, act)
  const isRemembered = await gates.db.gathered(areRemembered, { claim, now: admission.now })
  if (isRemembered) return act({ ...pending, isRemembered: true })
  return alone(gates, claim, () => inTurn(gates, pending, act))
}

/** A long call waits for other servers before it has its place among those of all accounts. */
async function inTurn<T>(gates: Gates, pending: Pending, act: Act<T>): Promise<T> {
  const { admission, input } = pending
  const { op, caller } = admission
  const ctx = ctxOf(gates, admission, gates.db)
  const fetched = async () => (await op.fetch?.(ctx, input as never)) ?? input
  const change = async (found: RawInput) => {
    const made = await op.prepare?.(ctx, found as never)
    return act({ ...pending, input: made ?? found, asked: input })
  }
  if (!op.isLong?.(input as never)) return change(await fetched())
  const { ofOne, ofAll } = gates.longOnes
  return ofOne(caller.accountId, async () => {
    const found = await fetched()
    return ofAll('', () => change(found))
  })
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
