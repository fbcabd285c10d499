import type { Ctx } from '../../kernel/ctx.ts'
import { pageOfRows } from '../../kernel/page.ts'
import { readCountsBy } from '../messages/counts/read-counts.ts'
import type { Status } from './campaign-row.ts'
import { listBriefly } from './queries.ts'

type Wanted = { status?: Status; limit?: number; cursor?: string }

/** As campaign.stats names the figures. */
export async function pageOfCampaignsOwn(ctx: Ctx, { status, limit = 50, cursor }: Wanted) {
  const { accountId } = ctx.caller
  const { rows, nextCursor } = await pageOfRows(
    ctx,
    { list: 'campaigns', filter: { status }, limit, cursor },
    (after, most) => listBriefly(ctx.db, accountId, { status, after, limit: most }),
    ({ id }) => id,
  )
  const campaignIds = rows.map(({ id }) => id)
  const counts =
    rows.length > 0 ? await readCountsBy(ctx.db, { accountId, campaignIds }, 'campaign') : undefined
  const data = rows.map(({ id, total, scheduled_at, created_at, ...row }) => ({
    ...row,
    id: Number(id),
    scheduled_at: scheduled_at?.toISOString() ?? null,
    created_at: created_at.toISOString(),
    recipients: total ?? 0,
    sent: counts?.get(id)?.sent ?? 0,
    delivered: counts?.get(id)?.delivered ?? 0,
  }))
  return { data, next_cursor: nextCursor }
}
