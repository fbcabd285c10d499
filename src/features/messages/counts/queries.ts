// The counts that triggers keep. What is folded in and what is not yet are read in one statement, so that the sum is
// exact at every moment.
import type { Db } from '../../../kernel/db.ts'
import { int, row, text } from '../../../kernel/row.ts'
import { type Sql, sql, when } from '../../../kernel/sql.ts'

/** Whole UTC days, both included. */
export type Days = { first?: string; last?: string }

export type CountFilter = Days & {
  accountId: string
  campaignIds?: string[]
  listId?: string
  tag?: string
  /** The source of the recipient's consent. */
  source?: string
}

export type Grouping = 'all' | 'month' | 'day' | 'campaign' | 'list'

export type CountRow = { group: string; name: string; n: number }

const Count = row<CountRow>({ group: text, name: text, n: int })

const groups: Record<Grouping, Sql> = {
  all: sql`''`,
  month: sql`to_char(day, 'YYYY-MM')`,
  day: sql`to_char(day, 'YYYY-MM-DD')`,
  campaign: sql`campaign_id::text`,
  // Of each campaign.
  list: sql`campaign_id || ' ' || list_id`,
}

const onDays = ({ first, last }: Days) => sql`
  ${when(first, (day) => sql`and day >= ${day}::date`)}
  ${when(last, (day) => sql`and day <= ${day}::date`)}`

const matching = (filter: CountFilter) => sql`
   ${onDays(filter)}
   ${when(filter.campaignIds, (ids) => sql`and campaign_id = any(${ids}::bigint[])`)}
   ${when(filter.listId, (id) => sql`and list_id = ${id}`)}
   ${when(filter.tag, (tag) => sql`and tag = ${tag}`)}
   ${when(filter.source, (source) => sql`and consent_source = ${source}`)}`

// Messages count under each of their tags; under those after the first by names of their own, so that whoever asks for
// no tag counts every message once.
const byAnyTag = sql`regexp_replace(name, '^also[.]', '')`

export function readCountRows(db: Db, filter: CountFilter, by: Grouping) {
  return db.many(
    Count,
    sql`
    select "group", ${filter.tag === undefined ? sql`name` : byAnyTag} as name, sum(n)::float8 as n
      from (select ${groups[by]} as "group", name, n
              from message_counts
             where account_id = ${filter.accountId} ${matching(filter)}
            union all
            select ${groups[by]}, name, n
              from message_count_changes
             where account_id = ${filter.accountId} ${matching(filter)}) counts
     group by 1, 2`,
  )
}

export type DomainRow = {
  recipient_domain: string
  sent: number
  delivered: number
  hard_bounces: number
  soft_bounces: number
  complaints: number
}

const Domain = row<DomainRow>({
  recipient_domain: text,
  sent: int,
  delivered: int,
  hard_bounces: int,
  soft_bounces: int,
  complaints: int,
})

const summed = (name: string) => sql`coalesce(sum(n) filter (where name = ${name}), 0)::float8`

/** Those that most was sent to come first. */
export function readDomainRows(db: Db, accountId: string, days: Days, limit: number) {
  return db.many(
    Domain,
    sql`
    select recipient_domain, ${summed('sent')} as sent, ${summed('delivered')} as delivered,
           ${summed('hard_bounces')} as hard_bounces, ${summed('soft_bounces')} as soft_bounces,
           ${summed('complaints')} as complaints
      from (select recipient_domain, name, n
              from domain_counts
             where account_id = ${accountId} ${onDays(days)}
            union all
            select recipient_domain, name, n
              from domain_count_changes
             where account_id = ${accountId} ${onDays(days)}) counts
     group by 1
     order by 2 desc, 1
     limit ${limit}`,
  )
}

/** How many changes were folded in, at most as many as the limit. */
export function foldMessageChanges(db: Db, limit: number) {
  return db.one(
    Folded,
    sql`
    -- all accounts: what one of them changed is folded with the rest
    with gone as materialized (
      delete from message_count_changes
       where ctid = any(array(select ctid from message_count_changes limit ${limit} for update skip locked))
      returning *
    ), merged as (
      insert into message_counts as c (account_id, day, campaign_id, list_id, tag, consent_source, name, n)
      select account_id, day, campaign_id, list_id, tag, consent_source, name, sum(n)
        from gone
       group by 1, 2, 3, 4, 5, 6, 7
      having sum(n) <> 0
       order by 1, 2, 3, 4, 5, 6, 7
      on conflict (account_id, day, campaign_id, list_id, tag, consent_source, name) do update
         set n = c.n + excluded.n)
    select count(*)::int as folded from gone`,
  )
}

const Folded = row<{ folded: number }>({ folded: int })

export function foldDomainChanges(db: Db, limit: number) {
  return db.one(
    Folded,
    sql`
    -- all accounts: what one of them changed is folded with the rest
    with gone as materialized (
      delete from domain_count_changes
       where ctid = any(array(select ctid from domain_count_changes limit ${limit} for update skip locked))
      returning *
    ), merged as (
      insert into domain_counts as c (account_id, day, recipient_domain, name, n)
      select account_id, day, recipient_domain, name, sum(n)
        from gone
       group by 1, 2, 3, 4
      having sum(n) <> 0
       order by 1, 2, 3, 4
      on conflict (account_id, day, recipient_domain, name) do update set n = c.n + excluded.n)
    select count(*)::int as folded from gone`,
  )
}
