// Where the people come from whom campaigns reach: by the source of their consent, and by the import that brought them.
import type { Db } from '../../kernel/db.ts'
import { bool, int, maybe, row, text, time } from '../../kernel/row.ts'
import { type Sql, sql } from '../../kernel/sql.ts'
import type { Days } from '../messages/counts/queries.ts'

export type OriginCounts = { hard_bounces: number; complaints: number; unsubscriptions: number }

export type SourceRow = OriginCounts & { source: string; sent: number }

const Source = row<SourceRow>({
  source: text,
  sent: int,
  hard_bounces: int,
  complaints: int,
  unsubscriptions: int,
})

const summed = (name: string) => sql`coalesce(sum(n) filter (where name = ${name}), 0)::float8`

/** Of campaigns, by the source of consent that each recipient had then; empty: none was recorded. */
export function readSources(db: Db, accountId: string, { first, last }: Days, most: number) {
  const counted = sql`day between ${first}::date and ${last}::date and campaign_id > 0`
  return db.many(
    Source,
    sql`
    select source, ${summed('sent')} as sent, ${summed('hard_bounces')} as hard_bounces,
           ${summed('complaints')} as complaints, ${summed('unsubscriptions')} as unsubscriptions
      from (select consent_source as source, name, n from message_counts
             where account_id = ${accountId} and ${counted}
            union all
            select consent_source, name, n from message_count_changes
             where account_id = ${accountId} and ${counted}) counts
     group by 1
     order by 2 desc, 1
     limit ${most}`,
  )
}

export type ImportRow = OriginCounts & { import_id: string; contacts: number; created_at: Date }

const Import = row<ImportRow>({
  import_id: text,
  contacts: int,
  created_at: time,
  hard_bounces: int,
  complaints: int,
  unsubscriptions: int,
})

const lost = (reason: string) => sql`count(*) filter (where s.reason = ${reason})::int`

/** By the newest so many suppressions, which is what bounces, complaints and unsubscriptions leave behind. */
export function readImports(db: Db, accountId: string, of: { since: Date; newest: number }) {
  return db.many(
    Import,
    sql`
    select p.id as import_id, p.created as contacts, p.created_at, ${lost('hard_bounce')} as hard_bounces,
           ${lost('complaint')} as complaints, ${lost('unsubscribe')} as unsubscriptions
      from (select email, reason
              from suppressions
             where account_id = ${accountId} and created_at >= ${of.since}
             order by id desc
             limit ${of.newest}) s
      join contacts c on c.account_id = ${accountId} and c.email = s.email and c.import_id is not null
      join processes p on p.account_id = ${accountId} and p.id = c.import_id
     group by p.id, p.created, p.created_at
     order by count(*) desc
     limit 50`,
  )
}

/** `source` null: contacts of whom no consent is recorded. */
export type Origin = { source: string | null } | { importId: string }

/** Contacts of an origin who can still be written to; `c` is their row. */
function subscribedOf(accountId: string, origin: Origin): Sql {
  if ('importId' in origin)
    return sql`
      from contacts c
     where c.account_id = ${accountId} and c.import_id = ${origin.importId} and c.status = 'subscribed'`
  if (origin.source === null)
    return sql`
      from contacts c
     where c.account_id = ${accountId} and c.consent_source is null and c.status = 'subscribed'`
  return sql`
      from contacts c
     where c.account_id = ${accountId} and c.consent_source = ${origin.source} and c.status = 'subscribed'
       and c.id in (select k.contact_id
                      from consents k
                     where k.account_id = ${accountId} and k.source = ${origin.source})`
}

const Left = row<{ is_left: boolean }>({ is_left: bool })

export async function hasSubscribed(db: Db, accountId: string, origin: Origin): Promise<boolean> {
  const found = await db.one(
    Left,
    sql`select exists (select 1 ${subscribedOf(accountId, origin)}) as is_left`,
  )
  return found.is_left
}

const Counted = row<{ count: number }>({ count: int })

/** Not further than `most`: of millions it is enough to know that they are many. */
export async function countSubscribed(
  db: Db,
  accountId: string,
  origin: Origin,
  most: number,
): Promise<number> {
  const found = await db.one(
    Counted,
    sql`select count(*)::int as count from (select 1 ${subscribedOf(accountId, origin)} limit ${most}) found`,
  )
  return found.count
}

const Stopped = row<{ contact_id: string }>({ contact_id: text })

type Stop = { origin: Origin; most: number; at: Date }

/** The next so many; gives those that were changed. */
export function unsubscribeSome(db: Db, accountId: string, { origin, most, at }: Stop) {
  return db.many(
    Stopped,
    sql`
    update contacts
       set status = 'unsubscribed', modified_at = ${at}
     where account_id = ${accountId}
       and id = any(array(select c.id ${subscribedOf(accountId, origin)} order by c.id limit ${most} for update))
    returning id as contact_id`,
  )
}

const Known = row<{ id: string | null }>({ id: maybe(text) })

export function findImport(db: Db, accountId: string, id: number) {
  return db.maybe(
    Known,
    sql`select id from processes where account_id = ${accountId} and id = ${id} and name = 'IMPORTUSER'`,
  )
}
