import type { KnownCaller } from '../features/accounts/keys/find-caller.ts'
import { type Caller, nobody } from '../kernel/ctx.ts'
import { type Operation, operationId } from '../kernel/operation.ts'
import { Refusal } from '../kernel/refusal.ts'
import {
  databaseUnavailable,
  isDatabaseDown,
  keyUnknown,
  operationClosed,
  rateLimited,
  scopeMissing,
  tooManyFailedKeys,
  unauthorized,
} from '../kernel/refusals.ts'
import { holdsScope } from '../kernel/scope.ts'
import { within } from '../kernel/within.ts'
import { recordRefusal } from './audit.ts'
import type { Gates } from './gates.ts'
import type { Rate } from './rate.ts'

export type Call = { apiKey: string | undefined; requestId: string; ip: string | null }

export type Admission = {
  op: Operation
  caller: Caller
  now: Date
  requestId: string
  ip: string | null
  rate: Rate | undefined
  /** Admitted without a look at the key, because the operation answers for a database that does not. */
  isDown: boolean
}

// Two of these, one before and one after the body, keep an answer about a silent database under two seconds.
export const downAfterMs = 800

/** Key, scope, rate. A refusal after the key is known leaves a line in the action log. */
export async function admit(gates: Gates, op: Operation, call: Call): Promise<Admission> {
  const admission: Admission = {
    op,
    caller: nobody,
    now: gates.now(),
    rate: undefined,
    isDown: false,
    ...call,
  }
  if (op.public) return admission
  if (!op.whenDatabaseDown) return passKeyed(gates, admission, call.apiKey)
  try {
    return await within(downAfterMs, passKeyed(gates, admission, call.apiKey), databaseUnavailable)
  } catch (error) {
    if (!isDatabaseDown(error)) throw error
    return { ...admission, isDown: true }
  }
}

export function admitPublic(gates: Gates, op: Operation, { requestId, ip }: Call): Admission {
  return { op, caller: nobody, now: gates.now(), requestId, ip, rate: undefined, isDown: false }
}

/** The first gate alone, for what is not yet a call of one operation. */
export async function admitAnyKey(
  gates: Gates,
  { apiKey, ip }: Omit<Call, 'requestId'>,
): Promise<KnownCaller> {
  if (!apiKey) throw unauthorized()
  if (gates.failedKeys.isOver(ip, apiKey)) throw tooManyFailedKeys({ retryAfterSeconds: 60 })
  const known = await gates.findCaller(apiKey, gates.now())
  if (known) {
    gates.failedKeys.noteWorked(apiKey)
    return known
  }
  gates.failedKeys.noteFailed(ip, apiKey)
  throw keyUnknown()
}

async function passKeyed(gates: Gates, admission: Admission, apiKey: string | undefined): Promise<Admission> {
  const { op, ip } = admission
  const known = await admitAnyKey(gates, { apiKey, ip })
  admission.caller = known.caller
  try {
    refuseMissingScope(op, known.caller)
    await takeTurn(gates, admission, known.limits)
  } catch (error) {
    if (error instanceof Refusal) await recordRefusal(gates, admission, error, {})
    throw error
  }
  return admission
}

function refuseMissingScope(op: Operation, caller: Caller): void {
  if (holdsScope(caller.scopes, op.scope)) return
  const create = `posthorn key create --account ${caller.accountId} --scope ${op.scope}`
  throw scopeMissing({
    message: `The key lacks the scope ${op.scope}.`,
    hint: `Use a key that holds ${op.scope}, or make one with: ${create}`,
  })
}

// What the counter's integer holds.
const mostPerMinute = 2_000_000_000

async function takeTurn(gates: Gates, admission: Admission, limits: Record<string, number>): Promise<void> {
  const { op, caller } = admission
  const operation = op.countedAs ?? operationId(op)
  const perMinute = limits[operation] ?? op.perMinute
  const allowed = Math.min(mostPerMinute, Math.floor(perMinute * gates.rateFactor))
  const rate = await gates.takeTurn({ accountId: caller.accountId, operation, allowed })
  admission.rate = rate
  if (rate.granted) return
  if (perMinute === 0) throw operationClosed({ headers: rateHeaders(rate, op.face) })
  throw rateLimited({
    message: `The limit of ${allowed} requests per minute for ${operation} is reached.`,
    retryAfterSeconds: rate.resetSeconds,
    headers: rateHeaders(rate, op.face),
  })
}

export function rateHeaders({ limit, remaining, resetSeconds }: Rate, face: Operation['face']) {
  const figures = { limit: String(limit), remaining: String(remaining), reset: String(resetSeconds) }
  const headers: Record<string, string> = {
    'ratelimit-limit': figures.limit,
    'ratelimit-remaining': figures.remaining,
    'ratelimit-reset': figures.reset,
  }
  if (face === 'v3')
    for (const [name, value] of Object.entries(figures)) headers[`x-sib-ratelimit-${name}`] = value
  return headers
}
