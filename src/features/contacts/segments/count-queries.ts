// How many contacts are in a segment, from the counts of the values that its attribute has.
import type { Db } from '../../../kernel/db.ts'
import { bool, int, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { type Condition, inSegment } from './condition-queries.ts'

const Counted = row<{ is_counted: boolean; count: number }>({ is_counted: bool, count: int })

/** One statement, one snapshot: what has been folded in and what has not add up at every moment. */
export function readSegmentCount(db: Db, accountId: string, condition: Condition) {
  const { attribute } = condition
  return db.one(
    Counted,
    sql`
    select exists (select 1
                     from counted_attributes
                    where account_id = ${accountId} and name = ${attribute} and done_to is null) as is_counted,
           (select coalesce(sum(c.contacts), 0)::int
              from (select v.contacts,
                           case when v.value is null then '{}'
                                else jsonb_build_object(${attribute}::text, v.value) end as attributes
                      from (select value, contacts
                              from attribute_counts
                             where account_id = ${accountId} and name = ${attribute}
                             union all
                            select value, contacts
                              from attribute_count_changes
                             where account_id = ${accountId} and name = ${attribute}) v) c
             where ${inSegment(condition)}) as count`,
  )
}

type Counting = { accountId: string; name: string }

/** The first one to ask about an attribute begins to count it; where there are many contacts a job goes on. */
export async function beginToCount(db: Db, { accountId, name }: Counting): Promise<void> {
  const isKnown = await db.run(sql`
    select 1 from counted_attributes where account_id = ${accountId} and name = ${name}`)
  if (isKnown > 0) return
  await lockCounts(db, accountId)
  const isFirst = await db.run(sql`
    insert into counted_attributes (account_id, name, done_to)
    values (${accountId}, ${name}, 0)
    on conflict do nothing`)
  if (isFirst > 0) await countPortion(db, { accountId, name })
}

/** Writers of the account's contacts wait until the transaction ends. */
export function lockCounts(db: Db, accountId: string) {
  return db.run(sql`select pg_advisory_xact_lock(attribute_counts_lock(${accountId}))`)
}

const portion = 5_000

/** Under the lock; nothing when all are counted, or nobody asks any more. */
export function countPortion(db: Db, { accountId, name }: Counting) {
  const begun = sql`account_id = ${accountId} and name = ${name} and done_to is not null`
  return db.run(sql`
    with page as materialized (
      select c.id, c.attributes -> ${name}::text as value
        from contacts c
       where c.account_id = ${accountId}
         and c.id > (select done_to from counted_attributes where ${begun})
       order by c.id
       limit ${portion}),
    added as (
      insert into attribute_counts as a (account_id, name, hash, value, contacts)
      select ${accountId}, ${name}, md5(coalesce(p.value::text, ''))::uuid, p.value, count(*)
        from page p
       group by p.value
      on conflict (account_id, name, hash) do update set contacts = a.contacts + excluded.contacts)
    update counted_attributes
       set done_to = (select id from page order by id offset ${portion - 1})
     where ${begun}`)
}

const Begun = row<{ account_id: string; name: string }>({ account_id: text, name: text })

export function findBegun(db: Db) {
  return db.maybe(
    Begun,
    sql`
    -- all accounts: the job works for each of them
    select account_id, name from counted_attributes where done_to is not null order by account_id, name limit 1`,
  )
}

/** Attributes that no segment asks about any more. */
export async function forgetUnasked(db: Db, accountId: string): Promise<void> {
  await lockCounts(db, accountId)
  await db.run(sql`
    with forgotten as (
      delete from counted_attributes a
       where a.account_id = ${accountId}
         and not exists (select 1 from segments s where s.account_id = ${accountId} and s.attribute = a.name)
      returning a.name),
    changes as (
      delete from attribute_count_changes where account_id = ${accountId} and name in (select name from forgotten))
    delete from attribute_counts where account_id = ${accountId} and name in (select name from forgotten)`)
}

const Account = row<{ account_id: string }>({ account_id: text })

export function accountsToFold(db: Db) {
  return db.many(
    Account,
    sql`
    -- all accounts: housekeeping
    select distinct account_id from attribute_count_changes`,
  )
}

const most = 50_000

/** The changes so far, added to the counts. As a writer among others, so that nobody begins to count meanwhile. */
export async function foldAttributeCounts(db: Db, accountId: string): Promise<void> {
  await db.run(sql`select pg_advisory_xact_lock_shared(attribute_counts_lock(${accountId}))`)
  await db.run(sql`
    with taken as (
      delete from attribute_count_changes
       where ctid in (select ctid from attribute_count_changes where account_id = ${accountId} limit ${most})
      returning account_id, name, value, contacts)
    insert into attribute_counts as a (account_id, name, hash, value, contacts)
    select t.account_id, t.name, md5(coalesce(t.value::text, ''))::uuid, t.value, sum(t.contacts)
      from taken t
      join counted_attributes c on c.account_id = t.account_id and c.name = t.name
     group by 1, 2, 4
    on conflict (account_id, name, hash) do update set contacts = a.contacts + excluded.contacts`)
  await db.run(sql`delete from attribute_counts where account_id = ${accountId} and contacts = 0`)
}
