import { type AuditLine, auditableParams } from '../features/accounts/audit/audit-line.ts'
import { nobody } from '../kernel/ctx.ts'
import { newUuid } from '../kernel/id.ts'
import { codeIn, type Refusal, statusOf } from '../kernel/refusal.ts'
import type { Admission } from './admit.ts'
import type { Gates } from './gates.ts'

type Result = { status: number; code: string | null }

export function lineOf(admission: Admission, input: object, { status, code }: Result): AuditLine {
  const { op, caller, now, requestId, ip } = admission
  return {
    id: newUuid(),
    accountId: caller.accountId,
    at: now,
    keyId: caller.keyId,
    operation: op.name,
    params: auditableParams(input, op),
    status,
    code,
    requestId,
    ip,
  }
}

/** A refused call leaves its line alone. The caller gets the refusal even when the line cannot be written. */
export async function recordRefusal(gates: Gates, admission: Admission, refusal: Refusal, input: object) {
  if (admission.caller === nobody) return
  const { declaration } = refusal
  const { face } = admission.op
  const line = lineOf(admission, input, {
    status: statusOf(declaration.kind, face),
    code: codeIn(face, declaration),
  })
  await gates.writeLine(line).catch((error) => {
    gates.log.error({ requestId: admission.requestId, err: error }, 'action log line lost')
  })
}
