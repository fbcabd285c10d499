import { insertAuditLines } from '../features/accounts/audit/queries.ts'
import { type Ctx, nobody } from '../kernel/ctx.ts'
import type { Db } from '../kernel/db.ts'
import { changesNothing } from '../kernel/operation.ts'
import { databaseUnavailable } from '../kernel/refusals.ts'
import { within } from '../kernel/within.ts'
import { type Admission, downAfterMs, isDatabaseDown } from './admit.ts'
import { lineOf, recordRefusal } from './audit.ts'
import type { Gates } from './gates.ts'
import {
  type Claim,
  claimIdempotencyKey,
  fingerprintOf,
  readIdempotencyKey,
  rememberAnswer,
} from './idempotency.ts'
import { asRefusal, type Reply, refuseUndeclared, replyOf } from './reply.ts'
import { type RawInput, refusalOf } from './validate.ts'

export type Performed = Reply & { replayed: boolean }

/** Validation, idempotency, the act, its line. Throws a refusal; a bug has become one and is logged. */
export async function perform(
  gates: Gates,
  admission: Admission,
  input: RawInput,
  idempotencyHeader?: string,
): Promise<Performed> {
  const { op, requestId } = admission
  try {
    if (op.whenDatabaseDown) return await performOrSayDown(gates, admission, input)
    return await pass(gates, admission, input, idempotencyHeader)
  } catch (error) {
    const refusal = asRefusal(error, gates.log, { requestId, operation: op.name })
    if (gates.strict) refuseUndeclared(op, refusal)
    await recordRefusal(gates, admission, refusal, input)
    throw refusal
  }
}

async function pass(
  gates: Gates,
  admission: Admission,
  input: RawInput,
  header?: string,
): Promise<Performed> {
  const { op } = admission
  const key = op.idempotent ? readIdempotencyKey(header) : undefined
  const fingerprint = key === undefined ? undefined : fingerprintOf(input)
  const faults = gates.validators.get(op)?.(input) ?? []
  if (faults.length > 0) throw refusalOf(faults)
  if (changesNothing(op)) return look(gates, admission, input)
  const claim =
    key !== undefined && fingerprint
      ? { accountId: admission.caller.accountId, operation: op.name, key, fingerprint }
      : undefined
  return gates.db.transaction((tx) => act(gates, admission, { tx, input, claim }))
}

/** A call that changes nothing needs no transaction; its line shares one with others. */
async function look(gates: Gates, admission: Admission, input: RawInput): Promise<Performed> {
  const reply = await runIn(gates, admission, gates.db, input)
  if (admission.caller !== nobody) {
    await gates.writeLine(lineOf(admission, input, { status: reply.status, code: null }))
  }
  return { ...reply, replayed: false }
}

type Act = { tx: Db; input: RawInput; claim: Claim | undefined }

/** The act, its line and the remembered answer commit together or not at all. */
async function act(gates: Gates, admission: Admission, { tx, input, claim }: Act): Promise<Performed> {
  const known = claim && (await claimIdempotencyKey(tx, claim, admission.now))
  const reply = known ?? (await runIn(gates, admission, tx, input))
  if (admission.caller !== nobody) {
    await insertAuditLines(tx, [lineOf(admission, input, { status: reply.status, code: null })])
  }
  if (claim && !known) await rememberAnswer(tx, claim, reply, admission.now)
  return { status: reply.status, body: reply.body, replayed: known !== undefined }
}

async function runIn(gates: Gates, admission: Admission, db: Db, input: RawInput): Promise<Reply> {
  const { op, caller, now, requestId } = admission
  const ctx: Ctx = { db, now, caller, requestId, cursorKey: gates.cursorKey }
  const reply = replyOf(op, await op.run(ctx, input as never))
  if (gates.strict) gates.checkReply(op, reply)
  return { status: reply.status, body: reply.body }
}

async function performOrSayDown(gates: Gates, admission: Admission, input: RawInput): Promise<Performed> {
  const { op } = admission
  try {
    if (admission.isDown) throw databaseUnavailable()
    return await within(downAfterMs, pass(gates, admission, input), databaseUnavailable)
  } catch (error) {
    if (!op.whenDatabaseDown || !isDatabaseDown(error)) throw error
    return { ...replyOf(op, op.whenDatabaseDown()), replayed: false }
  }
}
