import type { Ctx } from '../../../kernel/ctx.ts'
import { firstUuidAt } from '../../../kernel/id.ts'
import { pageOfRows } from '../../../kernel/page.ts'
import { listAuditLines } from './queries.ts'

type Wanted = { operation?: string; since?: string; limit?: number; cursor?: string }

// A line's identifier is made when the line is written, which may be a little before or after its time
// on another clock: the identifier narrows the search, the time decides.
const slackMs = 3_600_000

export function pageOfAuditLines(ctx: Ctx, { operation, since, limit = 50, cursor }: Wanted) {
  const at = since === undefined ? undefined : new Date(since)
  const floor = at && { at, id: firstUuidAt(at.getTime() - slackMs) }
  return pageOfRows(
    ctx,
    { list: 'audit', filter: { operation, since }, limit, cursor },
    (after, most) =>
      listAuditLines(ctx.db, ctx.caller.accountId, { operation, since: floor, after, limit: most }),
    (line) => line.id,
  )
}
