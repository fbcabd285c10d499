// Key, scope and rate for the relay, as gates/admit.ts has them for HTTP. The turns are counted under a name of
// their own: sends over HTTP share the act's name and have a limit a thousand times lower.
import { type Admission, admitAnyKey, type Call } from '../gates/admit.ts'
import { recordRefusal } from '../gates/audit.ts'
import type { Gates } from '../gates/gates.ts'
import type { Operation } from '../kernel/operation.ts'
import { Refusal } from '../kernel/refusal.ts'
import { rateLimited, scopeMissing } from '../kernel/refusals.ts'
import { holdsScope } from '../kernel/scope.ts'

export async function admitToRelay(gates: Gates, op: Operation, call: Call): Promise<Admission> {
  const { requestId, ip } = call
  const { caller } = await admitAnyKey(gates, call)
  const admission: Admission = { op, caller, now: gates.now(), requestId, ip, rate: undefined, isDown: false }
  try {
    if (!holdsScope(caller.scopes, op.scope))
      throw scopeMissing({ message: `The key lacks the scope ${op.scope}.` })
    await takeTurn(gates, admission)
    return admission
  } catch (error) {
    if (error instanceof Refusal) await recordRefusal(gates, admission, error, {})
    throw error
  }
}

async function takeTurn(gates: Gates, { op, caller }: Admission): Promise<void> {
  const allowed = Math.min(2_000_000_000, Math.floor(op.perMinute * gates.rateFactor))
  const turn = { accountId: caller.accountId, operation: 'smtp.send', allowed }
  const { granted, resetSeconds } = await gates.takeTurn(turn)
  if (granted) return
  throw rateLimited({
    message: `The limit of ${allowed} messages per minute is reached.`,
    retryAfterSeconds: resetSeconds,
  })
}
