import type { Db } from '../../../kernel/db.ts'
import { int, maybe, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'

type Spending = { accountId: string; count: number }

/** Touches no row when the quota would be passed. */
export function spendMonth(db: Db, { accountId, count }: Spending, month: string) {
  return db.run(sql`
    insert into sending_months as m (account_id, month, sent)
    select a.id, ${month}::date, ${count}::bigint
      from accounts a
     where a.id = ${accountId}
       and (a.monthly_quota is null or a.monthly_quota >= ${count}::bigint)
    on conflict (account_id, month) do update set sent = m.sent + excluded.sent
     where m.sent + excluded.sent
           <= coalesce((select q.monthly_quota from accounts q where q.id = m.account_id), 9e18)`)
}

/** Touches no row when the cap would be passed. */
export function spendDay(db: Db, { accountId, count }: Spending, keyId: string, day: string) {
  return db.run(sql`
    insert into sending_days as d (account_id, day, key_id, sent)
    select k.account_id, ${day}::date, k.id, ${count}::bigint
      from api_keys k
     where k.id = ${keyId}
       and k.account_id = ${accountId}
       and (k.daily_cap is null or k.daily_cap >= ${count}::bigint)
    on conflict (account_id, day, key_id) do update set sent = d.sent + excluded.sent
     where d.sent + excluded.sent
           <= coalesce((select q.daily_cap from api_keys q where q.id = d.key_id), 9e18)`)
}

export type UsageRow = {
  month_sent: string
  monthly_quota: number | null
  day_sent: string
  key_sent: string
}

const Usage = row<UsageRow>({ month_sent: text, monthly_quota: maybe(int), day_sent: text, key_sent: text })

export function findUsage(db: Db, accountId: string, keyId: string, day: string) {
  return db.one(
    Usage,
    sql`
    select coalesce((select m.sent
                       from sending_months m
                      where m.account_id = a.id
                        and m.month = date_trunc('month', ${day}::date)::date), 0) as month_sent,
           a.monthly_quota,
           coalesce(d.day_sent, 0)::bigint as day_sent,
           coalesce(d.key_sent, 0)::bigint as key_sent
      from accounts a
      cross join (select sum(sent) as day_sent, sum(sent) filter (where key_id = ${keyId}) as key_sent
                    from sending_days
                   where account_id = ${accountId}
                     and day = ${day}::date) d
     where a.id = ${accountId}`,
  )
}
