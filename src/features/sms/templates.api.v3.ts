// Texts of SMS come with each call: there are no templates, and the list of them says so.
import { Type } from 'typebox'
import { operation } from '../../kernel/operation.ts'
import { closed, orNull } from '../../kernel/schema.ts'
import { listQuery, pageBySlice } from '../../kernel/v3/paging.ts'
import { outOfRange } from '../../kernel/v3/refusals.ts'

export const listSmsTemplatesV3 = operation({
  area: 'Transactional',
  name: 'sms.templates',
  http: 'GET /v3/transactionalSMS/templates',
  summary: 'List templates of SMS, of which there are none',
  scope: 'email.send',
  effect: 'read',
  query: closed(listQuery),
  reply: closed({
    count: Type.Integer(),
    templates: Type.Array(closed({ id: Type.Integer(), name: Type.String() })),
    next_cursor: orNull(Type.String()),
  }),
  refusals: [outOfRange],
}).run(async (ctx, { query }) => {
  const list = { name: 'v3.sms_templates', filter: {}, usual: 50, most: 100 }
  const { nextCursor } = await pageBySlice(ctx, query, list, async () => [])
  return { count: 0, templates: [], next_cursor: nextCursor }
})
