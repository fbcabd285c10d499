import type { Caller } from '../../../kernel/ctx.ts'
import type { Db } from '../../../kernel/db.ts'
import { int, row, text } from '../../../kernel/row.ts'
import { type Sql, sql, when } from '../../../kernel/sql.ts'
import type { Slice } from '../../../kernel/v3/paging.ts'
import { ContactShape, contactColumns } from '../contacts/row-queries.ts'

type Of = { accountId: string; listId: string }

/** Whose page it is stands before their columns are read. */
export function listMembers(
  db: Db,
  { accountId, listId }: Of,
  modifiedSince: Date | undefined,
  slice: Slice,
) {
  const beyond = (after: string) =>
    slice.ascending ? sql`and p.contact_id > ${after}` : sql`and p.contact_id < ${after}`
  const modified = (since: Date) => sql`
    join contacts c on c.account_id = p.account_id and c.id = p.contact_id and c.modified_at >= ${since}`
  return db.many(
    ContactShape,
    sql`
    select ${contactColumns}
      from contacts c
     where c.account_id = ${accountId}
       and c.id = any(array(select p.contact_id
                              from list_members p
                              ${when(modifiedSince, modified)}
                             where p.account_id = ${accountId}
                               and p.list_id = ${listId}
                               ${when(slice.after, beyond)}
                             order by ${slice.ascending ? sql`p.contact_id` : sql`p.contact_id desc`}
                             limit ${slice.limit}
                            offset ${slice.offset}))
     order by ${slice.ascending ? sql`c.id` : sql`c.id desc`}`,
  )
}

const Count = row<{ count: number }>({ count: int })

export function countModifiedMembers(db: Db, { accountId, listId }: Of, since: Date) {
  return db.one(
    Count,
    sql`
    select count(*)::int as count
      from list_members p
      join contacts c on c.account_id = p.account_id and c.id = p.contact_id
     where p.account_id = ${accountId}
       and p.list_id = ${listId}
       and c.modified_at >= ${since}`,
  )
}

/** By what contacts are named; all of one kind. */
export type Kind = 'emails' | 'ids' | 'extIds'

function named(kind: Kind, names: string[]): Sql {
  if (kind === 'emails') return sql`c.email = any(${names}::text[])`
  return kind === 'ids' ? sql`c.id = any(${names}::bigint[])` : sql`c.ext_id = any(${names}::text[])`
}

const nameColumns = { emails: sql`c.email`, ids: sql`c.id::text`, extIds: sql`c.ext_id` }
const Named = row<{ id: string; name: string }>({ id: text, name: text })

/** They stay, and nobody else changes them, until the transaction ends. */
export function holdContacts(db: Db, accountId: string, kind: Kind, names: string[]) {
  return db.many(
    Named,
    sql`
    select c.id, ${nameColumns[kind]} as name
      from contacts c
     where c.account_id = ${accountId}
       and ${named(kind, names)}
     order by c.id
       for no key update`,
  )
}

const Id = row<{ id: string }>({ id: text })

/** `mode`: of the key that adds them; automations that wait for them write in it. */
type Onto = Of & { mode: Caller['mode'] }

/** Gives those who were not on the list. Who is put on a list again has not left it any more. */
export function addMembers(db: Db, { accountId, listId, mode }: Onto, contactIds: string[], at: Date) {
  return db.many(
    Id,
    sql`
    with added as (
      insert into list_members (account_id, list_id, contact_id, added_at, added_in_test)
      select ${accountId}, ${listId}, id, ${at}, ${mode === 'test'}
        from unnest(${contactIds}::bigint[]) as id
       order by id
      on conflict do nothing
      returning contact_id
    ), back as (
      delete from list_unsubscriptions
       where account_id = ${accountId} and list_id = ${listId} and contact_id = any(${contactIds}::bigint[])
    )
    select contact_id as id from added`,
  )
}

/** Gives those who were on the list. */
export function removeMembers(db: Db, { accountId, listId }: Of, contactIds: string[]) {
  return db.many(
    Id,
    sql`
    delete from list_members
     where account_id = ${accountId} and list_id = ${listId} and contact_id = any(${contactIds}::bigint[])
    returning contact_id as id`,
  )
}

/** Who came onto a list or left it has changed, for those who ask since when. */
export function touchContacts(db: Db, accountId: string, contactIds: string[], at: Date) {
  return db.run(sql`
    update contacts set modified_at = ${at} where account_id = ${accountId} and id = any(${contactIds}::bigint[])`)
}

export function removeAllMembers(db: Db, { accountId, listId }: Of) {
  return db.run(sql`delete from list_members where account_id = ${accountId} and list_id = ${listId}`)
}
