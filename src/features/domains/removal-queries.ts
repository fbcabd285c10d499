import type { Db } from '../../kernel/db.ts'
import { bool, int, row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import type { DomainRef } from './queries.ts'

/** Where other accounts have the domain it stays, and theirs to give up from now on. */
export function queueRemoval(db: Db, { accountId, domain }: DomainRef) {
  return db.run(sql`
    with others as (
      update domains
         set upstream = upstream || '{"registered": true}'
       where domain = ${domain}
         and account_id <> ${accountId}
         and upstream is not null
      returning 1)
    insert into upstream_removals (domain, due_at)
    select ${domain}, clock_timestamp()
     where not exists (select 1 from others)
    on conflict (domain) do update set due_at = excluded.due_at, attempts = 0`)
}

/** Whoever has declared it again gives it up one day: to them it was there before. */
export function passOnRegistration(db: Db, domain: string) {
  return db.run(sql`
    -- all accounts: the upstream's list is one for all of them
    update domains
       set upstream = upstream || '{"registered": true}'
     where domain = ${domain} and upstream is not null`)
}

export type ClaimedRemoval = { domain: string; attempts: number; is_wanted: boolean }

const Claimed = row<ClaimedRemoval>({ domain: text, attempts: int, is_wanted: bool })

/** `is_wanted`: some account has declared it again meanwhile. */
export function claimRemoval(db: Db, leaseSeconds: number) {
  return db.maybe(
    Claimed,
    sql`
    -- all accounts: the upstream's list is one for all of them
    with picked as (
      select domain
        from upstream_removals
       where due_at <= clock_timestamp()
       order by due_at
       limit 1
         for update skip locked)
    update upstream_removals u
       set due_at = clock_timestamp() + make_interval(secs => ${leaseSeconds}), attempts = u.attempts + 1
      from picked p
     where u.domain = p.domain
    returning u.domain, u.attempts, exists (select 1 from domains d where d.domain = u.domain) as is_wanted`,
  )
}

/** Not what somebody asked for anew meanwhile, which counts from nought again. */
export function deleteRemoval(db: Db, { domain, attempts }: ClaimedRemoval) {
  return db.run(sql`delete from upstream_removals where domain = ${domain} and attempts = ${attempts}`)
}
