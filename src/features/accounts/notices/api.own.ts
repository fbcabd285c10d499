import { Type } from 'typebox'
import { showId } from '../../../kernel/id.ts'
import { operation } from '../../../kernel/operation.ts'
import { pageOfRows } from '../../../kernel/page.ts'
import { closed, orNull, pageOf, pageQuery, Time } from '../../../kernel/schema.ts'
import { noticeCodes } from './notices.ts'
import { listNotices } from './queries.ts'

const Notice = closed({
  id: Type.String(),
  code: Type.String({ description: `One of ${noticeCodes.join(', ')}` }),
  subject: Type.String({ description: 'What it is about: a domain, a webhook, a key' }),
  message: Type.String(),
  details: Type.Record(Type.String(), Type.Unknown()),
  created_at: Time,
  resolved_at: orNull(Time),
})

export const listNoticesOwn = operation({
  name: 'notice.list',
  http: 'GET /api/v1/notices',
  area: 'Account',
  summary: 'List what the account should know, newest first',
  description:
    'A domain that broke, a webhook that was switched off, a cap that is near, a campaign that stopped.',
  scope: 'analytics.read',
  effect: 'read',
  query: closed({
    open: Type.Optional(Type.Boolean({ description: 'true: only those that are not resolved' })),
    ...pageQuery,
  }),
  reply: pageOf(Notice),
}).run(async (ctx, { query: { open, limit = 50, cursor } }) => {
  const { rows, nextCursor } = await pageOfRows(
    ctx,
    { list: 'notices', filter: { open }, limit, cursor },
    (after, most) => listNotices(ctx.db, ctx.caller.accountId, { open, after, limit: most }),
    ({ id }) => id,
  )
  const data = rows.map((one) => ({
    ...one,
    id: showId('ntc', one.id),
    details: one.details as Record<string, unknown>,
    created_at: one.created_at.toISOString(),
    resolved_at: one.resolved_at?.toISOString() ?? null,
  }))
  return { data, next_cursor: nextCursor }
})
