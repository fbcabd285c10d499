import { Type } from 'typebox'
import type { Ctx } from '../../kernel/ctx.ts'
import { operation } from '../../kernel/operation.ts'
import { pageOfRows } from '../../kernel/page.ts'
import { closed, pageOf, pageQuery, Time, words } from '../../kernel/schema.ts'
import { readPhone } from '../contacts/contacts/read-ref.ts'
import { type CapturedRow, listCaptured } from './queries.ts'

const Captured = closed({
  message_id: Type.Integer({ description: 'messageId of the send' }),
  from: Type.String(),
  to: Type.String(),
  text: Type.String(),
  type: words(['transactional', 'marketing']),
  encoding: words(['gsm7', 'ucs2']),
  sms_count: Type.Integer(),
  received_at: Time,
})

export const listSandboxSms = operation({
  name: 'sandbox.sms',
  http: 'GET /api/v1/sandbox/sms',
  area: 'Messages',
  summary: 'List the SMS that the capture transport took, newest first',
  scope: 'email.read_status',
  effect: 'read',
  query: closed({ to: Type.Optional(Type.String({ maxLength: 40 })), ...pageQuery }),
  reply: pageOf(Captured),
}).run((ctx, { query }) => pageOfCaptured(ctx, query))

type Wanted = { to?: string; limit?: number; cursor?: string }

async function pageOfCaptured(ctx: Ctx, { to, limit = 50, cursor }: Wanted) {
  const recipient = to === undefined ? undefined : (readPhone(to) ?? to)
  const { rows, nextCursor } = await pageOfRows(
    ctx,
    { list: 'sandbox.sms', filter: { to }, limit, cursor },
    (after, most) => listCaptured(ctx.db, ctx.caller.accountId, { to: recipient, after, limit: most }),
    ({ id }) => id,
  )
  return { data: rows.map(show), next_cursor: nextCursor }
}

const show = (row: CapturedRow) => ({
  message_id: Number(row.id),
  from: row.sender,
  to: `+${row.recipient}`,
  text: row.content,
  type: row.type,
  encoding: row.encoding,
  sms_count: row.parts,
  received_at: row.captured_at.toISOString(),
})
