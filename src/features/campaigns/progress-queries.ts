import type { Db } from '../../kernel/db.ts'
import { int, json, row } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { type Status, statuses } from '../messages/model.ts'
import type { CampaignRef } from './queries.ts'

export type Progress = { total: number } & Record<Status, number>

const Counted = row<{ status: Status; count: number }>({ status: json(), count: int })

/** What became of the recipients; every one of them is in exactly one of the counts. */
export async function readProgress(db: Db, { accountId, id }: CampaignRef): Promise<Progress> {
  const found = await db.many(
    Counted,
    sql`
    select status, count(*)::int as count
      from messages
     where account_id = ${accountId}
       and campaign_id = ${id}
     group by status`,
  )
  const countOf = (wanted: Status) => found.find(({ status }) => status === wanted)?.count ?? 0
  const counts = Object.fromEntries(statuses.map((status) => [status, countOf(status)]))
  const total = found.reduce((sum, { count }) => sum + count, 0)
  return { total, ...(counts as Record<Status, number>) }
}
