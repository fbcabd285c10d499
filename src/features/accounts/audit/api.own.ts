import { Type } from 'typebox'
import { showId } from '../../../kernel/id.ts'
import { nearest } from '../../../kernel/nearest.ts'
import { type Operation, operation } from '../../../kernel/operation.ts'
import { operationName } from '../../../kernel/patterns.ts'
import { invalidParameter } from '../../../kernel/refusals.ts'
import { closed, DateOrTime, orNull, pageOf, pageQuery, Time } from '../../../kernel/schema.ts'
import { pageOfAuditLines } from './list-audit-lines.ts'

const Line = closed({
  id: Type.String(),
  at: Time,
  key: closed({ id: Type.String(), name: Type.String() }),
  operation: Type.String(),
  params: Type.Record(Type.String(), Type.Unknown()),
  result: closed({ status: Type.Integer(), code: orNull(Type.String()) }),
  request_id: Type.String(),
  ip: orNull(Type.String()),
})

export const listAudit = (operations: () => readonly Operation[]) =>
  operation({
    name: 'audit.list',
    http: 'GET /api/v1/audit-logs',
    area: 'Account',
    summary: 'List what was called, newest first',
    description:
      'One line per call: which key, which operation, which parameters, which result. Never the content of a ' +
      'message. A call that got the first answer to its Idempotency-Key again, and did nothing, has the code ' +
      'idempotency_replayed.',
    scope: 'analytics.read',
    effect: 'read',
    query: closed({
      operation: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 64,
          pattern: operationName,
          description: 'Name of an operation, such as email.send; both namespaces are meant by it',
        }),
      ),
      since: Type.Optional(DateOrTime),
      ...pageQuery,
    }),
    reply: pageOf(Line),
  }).run(async (ctx, { query }) => {
    const name = query.operation === undefined ? undefined : nameOf(query.operation, operations())
    const { rows, nextCursor } = await pageOfAuditLines(ctx, { ...query, operation: name })
    const data = rows.map((line) => ({
      id: showId('aud', line.id),
      at: line.at.toISOString(),
      key: { id: showId('key', line.key_id), name: line.key_name },
      operation: line.operation,
      params: line.params as Record<string, unknown>,
      result: { status: line.status, code: line.code },
      request_id: line.request_id,
      ip: line.ip,
    }))
    return { data, next_cursor: nextCursor }
  })

/** Both namespaces write one name; the document has `v3.` before that of the compatible one. */
function nameOf(given: string, operations: readonly Operation[]): string {
  const name = given.replace(/^v3\./, '')
  const known = operations.map((op) => op.name)
  if (known.includes(name)) return name
  const meant = nearest(name, known)
  throw invalidParameter({
    message: `There is no operation ${given}.${meant ? ` Did you mean ${meant}?` : ''}`,
    param: 'operation',
    hint: 'GET /llms.txt names all.',
  })
}
