import { Type } from 'typebox'
import { showId } from '../../../kernel/id.ts'
import { operation } from '../../../kernel/operation.ts'
import { operationName } from '../../../kernel/patterns.ts'
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

export const listAudit = operation({
  name: 'audit.list',
  http: 'GET /api/v1/audit-logs',
  area: 'Account',
  summary: 'List what was called, newest first',
  description:
    'One line per call: which key, which operation, which parameters, which result. Never the content of a message.',
  scope: 'analytics.read',
  effect: 'read',
  query: closed({
    operation: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        pattern: operationName,
        description: 'Name of an operation, such as email.send',
      }),
    ),
    since: Type.Optional(DateOrTime),
    ...pageQuery,
  }),
  reply: pageOf(Line),
}).run(async (ctx, { query }) => {
  const { rows, nextCursor } = await pageOfAuditLines(ctx, query)
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
