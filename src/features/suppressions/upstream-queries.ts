import type { Db } from '../../kernel/db.ts'
import { bool, int, row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

export function queueUnsuppression(db: Db, email: string) {
  return db.run(sql`
    insert into upstream_unsuppressions (email, due_at)
    values (${email}, clock_timestamp())
    on conflict (email) do update set due_at = excluded.due_at, attempts = 0`)
}

export type ClaimedUnsuppression = { email: string; attempts: number; is_wanted: boolean }

const Claimed = row<ClaimedUnsuppression>({ email: text, attempts: int, is_wanted: bool })

/** `is_wanted`: some account has the address suppressed, so that the upstream's entry does no harm. */
export function claimUnsuppression(db: Db, leaseSeconds: number) {
  return db.maybe(
    Claimed,
    sql`
    -- all accounts: the upstream's list is one for all of them
    with picked as (
      select email
        from upstream_unsuppressions
       where due_at <= clock_timestamp()
       order by due_at
       limit 1
         for update skip locked)
    update upstream_unsuppressions u
       set due_at = clock_timestamp() + make_interval(secs => ${leaseSeconds}), attempts = u.attempts + 1
      from picked p
     where u.email = p.email
    returning u.email, u.attempts, exists (select 1 from suppressions s where s.email = u.email) as is_wanted`,
  )
}

/** Not what somebody asked for anew meanwhile, which counts from nought again. */
export function deleteUnsuppression(db: Db, { email, attempts }: ClaimedUnsuppression) {
  return db.run(sql`delete from upstream_unsuppressions where email = ${email} and attempts = ${attempts}`)
}
