import type { Db } from '../../../kernel/db.ts'
import { int, json, row, text, time } from '../../../kernel/row.ts'
import { sql, when } from '../../../kernel/sql.ts'
import type { Slice } from '../../../kernel/v3/paging.ts'

export type ProspectRow = {
  id: string
  email: string
  first_name: string
  last_name: string
  company: string
  attributes: Record<string, unknown>
  source: string
  created_at: Date
  modified_at: Date
}

const Prospect = row<ProspectRow>({
  id: text,
  email: text,
  first_name: text,
  last_name: text,
  company: text,
  attributes: json(),
  source: text,
  created_at: time,
  modified_at: time,
})

const columns = sql`
  id, email, first_name, last_name, company, attributes, source, created_at, modified_at`

export type ProspectFilter = { email?: string; company?: string }

const matches = ({ email, company }: ProspectFilter) => sql`
       ${when(email, (one) => sql`and email = ${one}`)}
       ${when(company, (one) => sql`and lower(company) = lower(${one})`)}`

export function listProspects(db: Db, accountId: string, filter: ProspectFilter, slice: Slice) {
  const beyond = (after: string) => (slice.ascending ? sql`and id > ${after}` : sql`and id < ${after}`)
  return db.many(
    Prospect,
    sql`
    select ${columns}
      from outreach_prospects
     where account_id = ${accountId}
       ${matches(filter)}
       ${when(slice.after, beyond)}
     order by ${slice.ascending ? sql`id` : sql`id desc`}
     limit ${slice.limit}
    offset ${slice.offset}`,
  )
}

const Count = row<{ count: number }>({ count: int })

export function countProspects(db: Db, accountId: string, filter: ProspectFilter) {
  return db.one(
    Count,
    sql`
    select count(*)::int as count from outreach_prospects where account_id = ${accountId} ${matches(filter)}`,
  )
}

export function findProspect(db: Db, accountId: string, id: number) {
  return db.maybe(
    Prospect,
    sql`select ${columns} from outreach_prospects where account_id = ${accountId} and id = ${id}`,
  )
}

/** What is not given is null. */
export type ProspectFields = {
  email: string
  firstName: string | null
  lastName: string | null
  company: string | null
  attributes: Record<string, unknown> | null
  source: string | null
}

const Saved = row<{ id: string; email: string }>({ id: text, email: text })

const given = (rows: ProspectFields[]) => sql`
  json_to_recordset(${JSON.stringify(rows)}::json)
    as n (email text, "firstName" text, "lastName" text, company text, attributes jsonb, source text)`

/** Gives the new ones alone. */
export function insertProspects(db: Db, accountId: string, rows: ProspectFields[], at: Date) {
  return db.many(
    Saved,
    sql`
    insert into outreach_prospects
      (account_id, email, first_name, last_name, company, attributes, source, created_at, modified_at)
    select ${accountId}, n.email, coalesce(n."firstName", ''), coalesce(n."lastName", ''),
           coalesce(n.company, ''), coalesce(n.attributes, '{}'), coalesce(n.source, ''), ${at}, ${at}
      from ${given(rows)}
     order by n.email
    on conflict (account_id, email) do nothing
    returning id, email`,
  )
}

/** What is given replaces what there was; attributes are added to. */
export function updateProspects(db: Db, accountId: string, rows: ProspectFields[], at: Date) {
  return db.many(
    Saved,
    sql`
    update outreach_prospects p
       set first_name = coalesce(n."firstName", p.first_name), last_name = coalesce(n."lastName", p.last_name),
           company = coalesce(n.company, p.company), source = coalesce(n.source, p.source),
           attributes = p.attributes || coalesce(n.attributes, '{}'), modified_at = ${at}
      from ${given(rows)}
     where p.account_id = ${accountId}
       and p.email = n.email
    returning p.id, p.email`,
  )
}

export type Named = { ids?: number[]; emails?: string[] }

/** Their enrolments end with them; what was sent to them stays known. */
export function deleteProspects(db: Db, accountId: string, { ids = [], emails = [] }: Named) {
  return db.run(sql`
    delete from outreach_prospects
     where account_id = ${accountId}
       and (id = any(${ids}::bigint[]) or email = any(${emails}::text[]))`)
}
