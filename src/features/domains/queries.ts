import type { Db } from '../../kernel/db.ts'
import type { Identity } from '../../kernel/ports.ts'
import { int, json, maybe, row, text, time } from '../../kernel/row.ts'
import { sql, when } from '../../kernel/sql.ts'
import type { DomainRow, RecordState, Status } from './model.ts'

const Domain = row<DomainRow>({
  id: text,
  account_id: text,
  domain: text,
  token: text,
  status: text as never,
  upstream: json(),
  records: json(),
  checked_at: maybe(time),
  verified_at: maybe(time),
  unproven_since: maybe(time),
  created_at: time,
})

const columns = sql`
  id, account_id, domain, token, status, upstream, records, checked_at, verified_at, unproven_since, created_at`

export type DomainRef = { accountId: string; domain: string }

export function findDomain(db: Db, { accountId, domain }: DomainRef) {
  return db.maybe(
    Domain,
    sql`select ${columns} from domains where account_id = ${accountId} and domain = ${domain}`,
  )
}

/** Whatever changes a domain or its keys holds its row. */
export function holdDomain(db: Db, { accountId, domain }: DomainRef) {
  return db.maybe(
    Domain,
    sql`
    select ${columns} from domains
     where account_id = ${accountId} and domain = ${domain}
       for update`,
  )
}

/** Newest first. */
export function listDomains(db: Db, accountId: string, { after, limit }: { after?: string; limit: number }) {
  return db.many(
    Domain,
    sql`
    select ${columns} from domains
     where account_id = ${accountId}
       ${when(after, (position) => sql`and id < ${position}`)}
     order by id desc
     limit ${limit}`,
  )
}

const Count = row<{ count: number }>({ count: int })

export function countDomains(db: Db, accountId: string) {
  return db.one(Count, sql`select count(*)::int as count from domains where account_id = ${accountId}`)
}

const Inserted = row<{ id: string }>({ id: text })

/** Undefined when it was there already. */
export function insertDomain(db: Db, { accountId, domain }: DomainRef, token: string, at: Date) {
  return db.maybe(
    Inserted,
    sql`
    insert into domains (account_id, domain, token, next_check_at, created_at)
    values (${accountId}, ${domain}, ${token}, ${at}, ${at})
    on conflict (account_id, domain) do nothing
    returning id`,
  )
}

export type Checked = {
  status: Status
  upstream: Identity | null
  records: RecordState[]
  checkedAt: Date
  verifiedAt: Date | null
  unprovenSince: Date | null
  nextCheckAt: Date
}

export function updateChecked(db: Db, { accountId, domain }: DomainRef, checked: Checked) {
  return db.one(
    Domain,
    sql`
    update domains
       set status = ${checked.status},
           upstream = ${checked.upstream && JSON.stringify(checked.upstream)}::jsonb,
           records = ${JSON.stringify(checked.records)}::jsonb,
           checked_at = ${checked.checkedAt},
           verified_at = ${checked.verifiedAt},
           unproven_since = ${checked.unprovenSince},
           next_check_at = ${checked.nextCheckAt}
     where account_id = ${accountId} and domain = ${domain}
    returning ${columns}`,
  )
}

export function deleteDomainRow(db: Db, { accountId, domain }: DomainRef) {
  return db.run(sql`delete from domains where account_id = ${accountId} and domain = ${domain}`)
}

const Due = row<{ account_id: string; domain: string }>({ account_id: text, domain: text })

export type Claim = {
  now: Date
  until: Date
  limit: number
  mostOfOne: number
  /** Of accounts that had some in this turn. */
  counts: { accountId: string; begun: number; running: number }[]
}

/**
 * Takes domains whose check is due, those first whose account had the fewest of the turn, and of an account no more at
 * once than it may have. Should the process die, they are due again after the lease: nothing else holds them.
 */
export function claimDue(db: Db, { now, until, limit, mostOfOne, counts }: Claim) {
  return db.many(
    Due,
    sql`
    -- all accounts: each is checked for its own account
    with ranked as (
      select d.id, d.next_check_at, coalesce(c.begun, 0) as begun, d.place
        from accounts a
        left join json_to_recordset(${JSON.stringify(counts)}::json)
                  as c ("accountId" bigint, begun int, running int) on c."accountId" = a.id
       cross join lateral (
             select id, next_check_at, row_number() over (order by next_check_at) as place
               from (select id, next_check_at
                       from domains
                      where account_id = a.id and next_check_at <= ${now}
                      order by next_check_at
                      limit greatest(0, ${mostOfOne}::int - coalesce(c.running, 0))) due) d),
    picked as (
      select id
        from domains
       where id in (select id
                      from ranked
                     order by begun + place, next_check_at
                     limit ${limit})
         and next_check_at <= ${now}
         for update skip locked)
    update domains d
       set next_check_at = ${until}
      from picked p
     where d.id = p.id
    returning d.account_id, d.domain`,
  )
}

export type ServedRef = { accountId: string; domain: string }

const Served = row<{ account_id: string; domain: string }>({ account_id: text, domain: text })

/** Of many domains of many accounts, those that are verified. */
export function listServed(db: Db, refs: ServedRef[]) {
  return db.many(
    Served,
    sql`
    select d.account_id, d.domain
      from unnest(${refs.map((ref) => ref.accountId)}::bigint[], ${refs.map((ref) => ref.domain)}::text[])
           as w (account_id, domain)
      join domains d on d.account_id = w.account_id and d.domain = w.domain and d.status = 'verified'`,
  )
}
