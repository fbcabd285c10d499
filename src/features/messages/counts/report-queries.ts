// The counts of reports on transactional mail, by the day on which something happened. What is folded in and what is
// not yet are read in one statement, so that the sum is exact at every moment.
import type { Db } from '../../../kernel/db.ts'
import { int, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'

/** Whole UTC days, both included. */
export type ReportFilter = { first: string; last: string; tag?: string; byDay: boolean }

export type ReportRow = { day: string; name: string; n: number }

const Count = row<ReportRow>({ day: text, name: text, n: int })

/**
 * One group a day, or one for all of it: what is unique over all is not the sum of the days. A message that was opened
 * on a day before counts there; there is none before when each day is reported for itself.
 */
export function readReportRows(db: Db, accountId: string, { first, last, tag = '', byDay }: ReportFilter) {
  const wanted = sql`
             where account_id = ${accountId}
               and tag = ${tag}
               and day between ${first}::date and ${last}::date
               ${byDay ? sql`` : sql`and prev < ${first}::date`}`
  return db.many(
    Count,
    sql`
    select ${byDay ? sql`to_char(day, 'YYYY-MM-DD')` : sql`''`} as day, name, sum(n)::float8 as n
      from (select account_id, day, name, n from report_counts ${wanted}
            union all
            select account_id, day, name, n from report_count_changes ${wanted}) counts
     group by 1, 2`,
  )
}

const Folded = row<{ folded: number }>({ folded: int })

/** How many changes were folded in, at most as many as the limit. */
export function foldReportChanges(db: Db, limit: number) {
  return db.one(
    Folded,
    sql`
    -- all accounts: what one of them changed is folded with the rest
    with gone as materialized (
      delete from report_count_changes
       where ctid = any(array(select ctid from report_count_changes limit ${limit} for update skip locked))
      returning *
    ), merged as (
      insert into report_counts as c (account_id, tag, day, name, prev, n)
      select account_id, tag, day, name, prev, sum(n)
        from gone
       group by 1, 2, 3, 4, 5
      having sum(n) <> 0
       order by 1, 2, 3, 4, 5
      on conflict (account_id, tag, day, name, prev) do update
         set n = c.n + excluded.n)
    select count(*)::int as folded from gone`,
  )
}
