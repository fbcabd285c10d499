// The act itself, for one call or for several that share a transaction: the acts, their lines in the action log
// and the remembered answers commit together or not at all.
import { insertAuditLines } from '../features/accounts/audit/queries.ts'
import { type Ctx, nobody } from '../kernel/ctx.ts'
import type { Db } from '../kernel/db.ts'
import { type Gatherer, gather } from '../kernel/gather.ts'
import type { Operation } from '../kernel/operation.ts'
import { Refusal } from '../kernel/refusal.ts'
import { idempotencyInProgress, isDatabaseDown } from '../kernel/refusals.ts'
import type { Admission } from './admit.ts'
import { lineOf } from './audit.ts'
import type { Gates } from './gates.ts'
import { type Claim, claimAll, rememberAll } from './idempotency.ts'
import { asRefusal, type Reply, replyOf } from './reply.ts'
import type { RawInput } from './validate.ts'

export type Performed = Reply & { replayed: boolean; isConstant?: boolean }
export type Pending = {
  admission: Admission
  input: RawInput
  /** What came before it was prepared: the action log says what was asked. */
  asked?: RawInput
  claim: Claim | undefined
  /** It has been answered before: nothing is prepared for it, and it does not act. */
  isRemembered?: true
}
export type ActTogether = (op: Operation, pending: Pending) => Promise<Performed | Refusal>

const heaviest = 8 * 1024 * 1024

/** Calls of one operation that arrive while two batches are on their way form the next one. */
export function togetherActor(gates: () => Gates): ActTogether {
  const gatherers = new Map<Operation, Gatherer<Pending, Performed | Refusal>>()
  return (op, pending) => {
    const gatherer =
      gatherers.get(op) ??
      gather((batch: Pending[]) => actInBatch(gates(), op, batch), {
        underWay: 2,
        worthAnother: 16,
        weigh: ({ input, isRemembered }) => (isRemembered ? 0 : (op.weigh?.(input as never) ?? 0)),
        heaviest,
      })
    gatherers.set(op, gatherer)
    return gatherer(pending)
  }
}

/** One call that breaks a batch must not fail its neighbours: then each goes alone. */
async function actInBatch(gates: Gates, op: Operation, batch: Pending[]): Promise<(Performed | Refusal)[]> {
  try {
    return await gates.db.transaction((tx) => actAll(gates, op, tx, batch))
  } catch (error) {
    if (batch.length === 1 || isDatabaseDown(error)) throw error
    const results: (Performed | Refusal)[] = []
    for (const one of batch) {
      const about = { requestId: one.admission.requestId, operation: op.name }
      const alone = await actInBatch(gates, op, [one]).catch((fault) => [asRefusal(fault, gates.log, about)])
      results.push(...alone)
    }
    return results
  }
}

export async function actAll(
  gates: Gates,
  op: Operation,
  tx: Db,
  batch: Pending[],
): Promise<(Performed | Refusal)[]> {
  const now = batch[0]?.admission.now ?? gates.now()
  const claims = batch.flatMap(({ claim }) => claim ?? [])
  const claimed = await claimAll(tx, claims, now)
  const settled = new Map(claims.map((claim, i) => [claim, claimed[i]]))
  const known = batch.map(
    ({ claim, isRemembered }) =>
      (claim && settled.get(claim)) ?? (isRemembered && idempotencyInProgress({ retryAfterSeconds: 1 })),
  )
  const acting = batch.filter((_, i) => known[i] === undefined)
  const replies = acting.length > 0 ? await runAll(gates, op, tx, acting) : []
  const acted = new Map(acting.map((pending, i) => [pending, replies[i]]))
  const results = batch.map((pending, i) => known[i] ?? acted.get(pending))
  await writeLines(tx, batch, results, new Set(acting))
  const answered = acting.flatMap((pending, i) => {
    const reply = replies[i]
    return pending.claim && reply && !(reply instanceof Refusal) ? [{ claim: pending.claim, reply }] : []
  })
  await rememberAll(tx, answered, now)
  return results.map((result, i) => {
    if (!result) throw new Error(`${op.name} gave no result`)
    return result instanceof Refusal ? result : { ...result, replayed: known[i] !== undefined }
  })
}

async function runAll(gates: Gates, op: Operation, tx: Db, acting: Pending[]): Promise<(Reply | Refusal)[]> {
  const calls = acting.map(({ admission, input }) => ({
    ctx: ctxOf(gates, admission, tx),
    input: input as never,
  }))
  const results = op.runTogether
    ? await op.runTogether(tx, calls)
    : await Promise.all(calls.map(({ ctx, input }) => op.run(ctx, input)))
  return results.map((result) => (result instanceof Refusal ? result : replyChecked(gates, op, result)))
}

/** Whoever counts what was done must be able to leave out the calls that only got their first answer again. */
const replayCode = 'idempotency_replayed'

async function writeLines(
  tx: Db,
  batch: Pending[],
  results: (Reply | Refusal | undefined)[],
  acting: Set<Pending>,
): Promise<void> {
  const lines = batch.flatMap((pending, i) => {
    const { admission, input, asked = input } = pending
    const result = results[i]
    if (!result || result instanceof Refusal || admission.caller === nobody) return []
    const code = acting.has(pending) ? null : replayCode
    return lineOf(admission, asked, { status: result.status, code })
  })
  if (lines.length > 0) await insertAuditLines(tx, lines)
}

export function ctxOf(gates: Gates, { now, caller, requestId }: Admission, db: Db): Ctx {
  const { cursorKey, takesMarketing } = gates
  return { db, now, caller, requestId, cursorKey, takesMarketing }
}

export function replyChecked(gates: Gates, op: Operation, result: unknown): Reply {
  const reply = replyOf(op, result)
  if (gates.strict) gates.checkReply(op, reply)
  const { status, body, headers } = reply
  return { status, body, headers }
}
