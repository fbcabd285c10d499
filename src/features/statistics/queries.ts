import type { Db } from '../../kernel/db.ts'
import { int, maybe, row, text } from '../../kernel/row.ts'
import { sql, when } from '../../kernel/sql.ts'
import type { Days } from '../messages/counts/queries.ts'

export type RevenueRow = {
  campaign_id: string | null
  campaign_name: string | null
  currency: string
  amount: string
  count: number
}

const Revenue = row<RevenueRow>({
  campaign_id: maybe(text),
  campaign_name: maybe(text),
  currency: text,
  amount: text,
  count: int,
})

type Of = { accountId: string; days: Days; campaignId?: string }

/** By campaign and currency; what belongs to no campaign comes last. */
export function sumRevenue(db: Db, { accountId, days, campaignId }: Of) {
  return db.many(
    Revenue,
    sql`
    select nullif(s.campaign_id, 0) as campaign_id, c.name as campaign_name, s.currency,
           sum(s.amount) as amount, sum(s.n)::float8 as count
      from conversion_sums s
      left join campaigns c on c.account_id = s.account_id and c.id = s.campaign_id
     where s.account_id = ${accountId}
       ${when(days.first, (day) => sql`and s.day >= ${day}::date`)}
       ${when(days.last, (day) => sql`and s.day <= ${day}::date`)}
       ${when(campaignId, (id) => sql`and s.campaign_id = ${id}`)}
     group by 1, 2, 3
     order by 1 nulls last, 5 desc, 3`,
  )
}

const Conversions = row<{ purchase: number; signup: number }>({ purchase: int, signup: int })

export function countConversions(db: Db, accountId: string, campaignId: string) {
  return db.one(
    Conversions,
    sql`
    select count(*) filter (where type = 'purchase')::int as purchase,
           count(*) filter (where type = 'signup')::int as signup
      from conversions
     where account_id = ${accountId}
       and campaign_id = ${campaignId}`,
  )
}
