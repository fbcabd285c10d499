import type { Db } from '../../../kernel/db.ts'
import { bool, int, maybe, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'

export type Granted = { month: number; day: number }

const Granted = row<Granted>({ month: int, day: int })

export type Spending = { accountId: string; keyId: string; count: number; month: string; day: string }

/**
 * Takes as many as the account's quota still allows and, of those, as many as the key's daily cap does. The day is
 * made from the month's row, so that two batches lock them in the same order.
 */
export function spend(db: Db, spending: Spending) {
  return db.one(
    Granted,
    sql`${granting(spending)} select month.granted as month, day.granted as day from month, day`,
  )
}

/** Takes all of them, or ends the transaction to be run again. */
export function spendAll(db: Db, spending: Spending) {
  const check = sql`
    ${granting(spending)}
    select assumption_failed() from month, day where day.granted < ${spending.count}::int`
  return db.runLast(check, 'locks')
}

function granting({ accountId, keyId, count, month, day }: Spending) {
  return sql`
    with month as (
      insert into sending_months as m (account_id, month, sent, granted)
      select id, ${month}::date, first, first
        from (select id, least(${count}::int, coalesce(monthly_quota, ${count}::int)) as first
                from accounts
               where id = ${accountId}) asked
      on conflict (account_id, month) do update
         set (sent, granted) = (
               select m.sent + g.granted, g.granted
                 from (select greatest(0, least(${count}::int, coalesce(a.monthly_quota - m.sent, ${count}::int)))::int
                              as granted
                         from accounts a
                        where a.id = m.account_id) g)
      returning granted),
    day as (
      insert into sending_days as d (account_id, day, key_id, sent, granted)
      select k.account_id, ${day}::date, k.id, f.first, f.first
        from month
        join api_keys k on k.id = ${keyId} and k.account_id = ${accountId}
       cross join lateral (select least(month.granted, coalesce(k.daily_cap, month.granted)) as first) f
      on conflict (account_id, day, key_id) do update
         set (sent, granted) = (
               select d.sent + g.granted, g.granted
                 from (select greatest(0, least(month.granted, coalesce(k.daily_cap - d.sent, month.granted)))::int
                              as granted
                         from api_keys k, month
                        where k.id = d.key_id) g)
      returning granted)`
}

/** Gives back what the month granted and the day did not. */
export function giveBackMonth(db: Db, { accountId, month }: Spending, count: number) {
  return db.run(sql`
    update sending_months
       set sent = sent - ${count}
     where account_id = ${accountId}
       and month = ${month}::date`)
}

/** The month first, as who spends does: a part of a statement that nothing reads would come last. */
export function giveBack(db: Db, { accountId, keyId, count, month, day }: Spending) {
  return db.run(sql`
    with months as (
      update sending_months
         set sent = sent - ${count}
       where account_id = ${accountId}
         and month = ${month}::date
      returning account_id)
    update sending_days d
       set sent = d.sent - ${count}
      from months m
     where d.account_id = m.account_id
       and d.day = ${day}::date
       and d.key_id = ${keyId}`)
}

type SpentRef = Pick<Spending, 'accountId' | 'keyId' | 'month' | 'day'>

type SpentRow = { key_id: string; daily_cap: number | null; is_month_spent: boolean }

const Spent = row<SpentRow>({ key_id: text, daily_cap: maybe(int), is_month_spent: bool })

/** Of the keys, those that have nothing left today or whose account has nothing left this month. */
export function findSpent(db: Db, refs: SpentRef[]) {
  const of = (name: keyof SpentRef) => refs.map((ref) => ref[name])
  return db.many(
    Spent,
    sql`
    select distinct k.id as key_id, k.daily_cap, (coalesce(m.sent, 0) >= a.monthly_quota) is true as is_month_spent
      from unnest(${of('accountId')}::bigint[], ${of('keyId')}::uuid[], ${of('month')}::date[], ${of('day')}::date[])
           as r (account_id, key_id, month, day)
      join accounts a on a.id = r.account_id
      join api_keys k on k.account_id = r.account_id and k.id = r.key_id
      left join sending_months m on m.account_id = r.account_id and m.month = r.month
      left join sending_days d on d.account_id = r.account_id and d.day = r.day and d.key_id = r.key_id
     where coalesce(m.sent, 0) >= a.monthly_quota
        or coalesce(d.sent, 0) >= k.daily_cap`,
  )
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
