import { Ajv, type ValidateFunction } from 'ajv'
import { isConflict } from '../kernel/db.ts'
import { addAllFormats } from '../kernel/formats.ts'
import type { Log } from '../kernel/log.ts'
import { Answer, type Operation } from '../kernel/operation.ts'
import { Refusal } from '../kernel/refusal.ts'
import {
  commonRefusals,
  databaseUnavailable,
  idempotencyInProgress,
  idempotencyKeyReused,
  internalError,
} from '../kernel/refusals.ts'

export type Reply = { status: number; body: string; headers?: Record<string, string> }

// A reply that never changes is written once.
const frozenTexts = new WeakMap<object, string>()

export function replyOf(op: Operation, result: unknown): Reply & { value: unknown } {
  const status = result instanceof Answer ? result.status : (op.statuses[0] ?? 200)
  const value = result instanceof Answer ? result.body : result
  const body = op.replyType && typeof value === 'string' ? value : textOf(value)
  return { status, value, body, headers: result instanceof Answer ? result.headers : undefined }
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value !== 'object' || !Object.isFrozen(value)) return JSON.stringify(value)
  const known = frozenTexts.get(value)
  if (known !== undefined) return known
  const text = JSON.stringify(value)
  frozenTexts.set(value, text)
  return text
}

/** Under test: a reply that its declaration does not describe is a bug. */
export function replyChecker() {
  const ajv = addAllFormats(new Ajv({ strict: false, allErrors: true }))
  const compiled = new Map<Operation, ValidateFunction>()

  return (op: Operation, { status, value }: { status: number; value: unknown }) => {
    const check = compiled.get(op) ?? ajv.compile(op.reply)
    compiled.set(op, check)
    if (!op.statuses.includes(status))
      throw new Error(`${op.name} answered ${status}, which it does not declare`)
    if (check(value ?? null)) return
    throw new Error(`${op.name} answered outside its schema: ${ajv.errorsText(check.errors)}`)
  }
}

/**
 * Anything thrown that is not a refusal is a bug: logged with its stack, answered with a bare sentence. Only that
 * others were in the way at every try is nobody's fault.
 */
export function asRefusal(error: unknown, log: Log, about: object): Refusal {
  if (error instanceof Refusal) return error
  if (isConflict(error)) {
    log.warn({ ...about, err: error }, 'others were in the way at every try')
    return databaseUnavailable({ message: 'Too many others are changing the same at this moment.' })
  }
  log.error({ ...about, err: error }, 'internal error')
  return internalError()
}

/** Under test: a refusal that the operation does not list is a bug. */
export function refuseUndeclared(op: Operation, refusal: Refusal): void {
  const listed = [
    ...commonRefusals,
    ...op.refusals,
    ...(op.idempotent ? [idempotencyInProgress, idempotencyKeyReused] : []),
  ]
  if (listed.some(({ declaration }) => declaration.code === refusal.code)) return
  throw new Error(`${op.name} refused with ${refusal.code}, which it does not list`)
}
