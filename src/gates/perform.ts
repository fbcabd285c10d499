import { faultsIn } from '../kernel/collect.ts'
import { nobody } from '../kernel/ctx.ts'
import { withoutFields } from '../kernel/faults.ts'
import { changesNothing, operationId } from '../kernel/operation.ts'
import { Refusal } from '../kernel/refusal.ts'
import { databaseUnavailable, isDatabaseDown } from '../kernel/refusals.ts'
import { within } from '../kernel/within.ts'
import { actAll, ctxOf, type Pending, type Performed, replyChecked } from './act.ts'
import { type Admission, downAfterMs } from './admit.ts'
import { lineOf, recordRefusal } from './audit.ts'
import type { Gates } from './gates.ts'
import { type Claim, fingerprintOf, readIdempotencyKey } from './idempotency.ts'
import { pageDb } from './page-size.ts'
import { prepare } from './prepare.ts'
import { asRefusal, refuseUndeclared, replyOf } from './reply.ts'
import { type Found, type RawInput, refusalOf } from './validate.ts'

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
  const claimed = op.idempotent ? claimOf(admission, readIdempotencyKey(header), input) : undefined
  const found = gates.validators.get(op)?.(input)
  if (found && found.faults.length > 0)
    throw refusalOf(found.faults, op.face, await furtherFaults(gates, admission, input, found))
  if (changesNothing(op)) return look(gates, admission, input)
  const claim = claimed ?? claimOf(admission, readIdempotencyKey(op.keyInInput?.of(input as never)), input)
  const performed = await act(gates, { admission, input, claim })
  if (performed instanceof Refusal) throw performed
  if (!performed) throw new Error(`${op.name} gave no result`)
  if (op.changesCallers) gates.findCaller.forget()
  gates.afterAct(op)
  return performed
}

function act(gates: Gates, asked: Pending): Promise<Performed | Refusal | undefined> {
  const { op, caller } = asked.admission
  return prepare(gates, asked, async (pending) => {
    if (op.runTogether) return gates.actTogether(op, pending)
    return gates.changesOf(caller).transaction(async (tx) => (await actAll(gates, op, tx, [pending]))[0])
  })
}

/** Those that only the act can see, in fields that the schema has nothing against. */
async function furtherFaults(gates: Gates, admission: Admission, { body }: RawInput, { faulty }: Found) {
  const { findFaults } = admission.op
  const isObject = body !== null && typeof body === 'object' && !Array.isArray(body)
  if (!findFaults || !faulty || !isObject) return []
  const ctx = ctxOf(gates, admission, gates.db)
  const found = await findFaults(ctx, withoutFields(body, faulty) as never, faulty)
  return faultsIn(found).filter(({ param = '' }) => !faulty.has(param.replace(/[.[].*/s, '')))
}

function claimOf({ op, caller }: Admission, key: string | undefined, input: RawInput): Claim | undefined {
  if (key === undefined) return undefined
  const fingerprint = fingerprintOf(input)
  const { accountId, mode } = caller
  // What a test key tried out is no answer for a call that is meant: nothing would leave.
  const operation = mode === 'test' ? `test ${operationId(op)}` : operationId(op)
  return { accountId, operation, key, fingerprint, rememberMs: op.keyInInput?.rememberMs }
}

/** A call that changes nothing needs no transaction; its line shares one with others. */
async function look(gates: Gates, admission: Admission, input: RawInput): Promise<Performed> {
  const { op, caller } = admission
  // What tells of the database must not wait behind long reads.
  const db = op.whenDatabaseDown ? gates.db : pageDb(op, gates.readsOf(caller))
  const result = await op.run(ctxOf(gates, admission, db), input as never)
  const { status, body } = replyChecked(gates, op, result)
  if (caller === nobody) return { status, body, replayed: false, isConstant: isFrozenObject(result) }
  await gates.writeLine(lineOf(admission, input, { status, code: null }))
  return { status, body, replayed: false }
}

function isFrozenObject(result: unknown): boolean {
  return typeof result === 'object' && result !== null && Object.isFrozen(result)
}

async function performOrSayDown(gates: Gates, admission: Admission, input: RawInput): Promise<Performed> {
  const { op } = admission
  try {
    if (admission.isDown) throw databaseUnavailable()
    return await within(downAfterMs, pass(gates, admission, input), databaseUnavailable)
  } catch (error) {
    if (!op.whenDatabaseDown || !isDatabaseDown(error)) throw error
    return { ...replyOf(op, op.whenDatabaseDown(admission.requestId)), replayed: false }
  }
}
