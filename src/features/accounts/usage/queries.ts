import type { Db } from '../../../kernel/db.ts'
import { int, maybe, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'

const Granted = row<{ granted: number }>({ granted: int })

type Spending = { accountId: string; count: number }

/** Takes as many as the account's quota still allows. */
export function spendMonth(db: Db, { accountId, count }: Spending, month: string) {
  return db.one(
    Granted,
    sql`
    with asked as (
      select id, least(${count}::int, coalesce(monthly_quota, ${count}::int)) as first
        from accounts
       where id = ${accountId})
    insert into sending_months as m (account_id, month, sent, granted)
    select id, ${month}::date, first, first from asked
    on conflict (account_id, month) do update
       set (sent, granted) = (
             select m.sent + g.granted, g.granted
               from (select greatest(0, least(${count}::int, coalesce(a.monthly_quota - m.sent, ${count}::int)))::int
                            as granted
                       from accounts a
                      where a.id = m.account_id) g)
    returning granted`,
  )
}

/** Takes as many as the key's daily cap still allows. */
export function spendDay(db: Db, { accountId, count }: Spending, keyId: string, day: string) {
  return db.one(
    Granted,
    sql`
    with asked as (
      select account_id, id, least(${count}::int, coalesce(daily_cap, ${count}::int)) as first
        from api_keys
       where id = ${keyId}
         and account_id = ${accountId})
    insert into sending_days as d (account_id, day, key_id, sent, granted)
    select account_id, ${day}::date, id, first, first from asked
    on conflict (account_id, day, key_id) do update
       set (sent, granted) = (
             select d.sent + g.granted, g.granted
               from (select greatest(0, least(${count}::int, coalesce(k.daily_cap - d.sent, ${count}::int)))::int
                            as granted
                       from api_keys k
                      where k.id = d.key_id) g)
    returning granted`,
  )
}

/** Gives back what the month granted and the day did not. */
export function giveBackMonth(db: Db, { accountId, count }: Spending, month: string) {
  return db.run(sql`
    update sending_months
       set sent = sent - ${count}
     where account_id = ${accountId}
       and month = ${month}::date`)
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
