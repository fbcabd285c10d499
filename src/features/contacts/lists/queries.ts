import type { Db } from '../../../kernel/db.ts'
import { int, maybe, row, text, time } from '../../../kernel/row.ts'
import { sql, when } from '../../../kernel/sql.ts'
import type { Slice } from '../../../kernel/v3/paging.ts'

export type ListRow = {
  id: string
  name: string
  folder_id: string | null
  created_at: Date
  subscribers: number
}

const List = row<ListRow>({
  id: text,
  name: text,
  folder_id: maybe(text),
  created_at: time,
  subscribers: int,
})

const columns = sql`
  l.id, l.name, l.folder_id, l.created_at,
  coalesce((select n.contacts
              from contact_counts n
             where n.account_id = l.account_id and n.list_id = l.id), 0)::int as subscribers`

export function findList(db: Db, accountId: string, id: number) {
  return db.maybe(
    List,
    sql`select ${columns} from lists l where l.account_id = ${accountId} and l.id = ${id}`,
  )
}

export type ListFilter = { folderId?: string }

export function listLists(db: Db, accountId: string, { folderId }: ListFilter, slice: Slice) {
  return db.many(
    List,
    sql`
    select ${columns}
      from lists l
     where l.account_id = ${accountId}
       ${when(folderId, (folder) => sql`and l.folder_id = ${folder}`)}
       ${when(slice.after, (after) => (slice.ascending ? sql`and l.id > ${after}` : sql`and l.id < ${after}`))}
     order by ${slice.ascending ? sql`l.id` : sql`l.id desc`}
     limit ${slice.limit}
    offset ${slice.offset}`,
  )
}

const Count = row<{ count: number }>({ count: int })

export function countLists(db: Db, accountId: string, { folderId }: ListFilter) {
  return db.one(
    Count,
    sql`
    select count(*)::int as count
      from lists
     where account_id = ${accountId}
       ${when(folderId, (folder) => sql`and folder_id = ${folder}`)}`,
  )
}

const Id = row<{ id: string }>({ id: text })

/** Those of them that there are. They stay until the transaction ends, so that contacts can be put on them. */
export function holdLists(db: Db, accountId: string, ids: string[]) {
  return db.many(
    Id,
    sql`
    select id from lists where account_id = ${accountId} and id = any(${ids}::bigint[]) order by id for key share`,
  )
}

/** Two that change members of several lists count them up and down in the same order, after their contacts. */
export async function holdCounts(db: Db, accountId: string, listIds: string[]): Promise<void> {
  if (listIds.length < 2) return
  await db.run(sql`
    select 1
      from contact_counts
     where account_id = ${accountId} and list_id = any(${listIds}::bigint[])
     order by list_id
       for no key update`)
}

export type ListFields = { name: string; folderId: number | null }

export function insertList(db: Db, accountId: string, { name, folderId }: ListFields, at: Date) {
  return db.one(
    Id,
    sql`
    insert into lists (account_id, name, folder_id, created_at)
    values (${accountId}, ${name}, ${folderId}, ${at})
    returning id`,
  )
}

/** What is undefined stays; a folder of null is none. */
export function updateList(
  db: Db,
  accountId: string,
  id: number,
  { name, folderId }: { name: string | undefined; folderId: number | null | undefined },
) {
  return db.run(sql`
    update lists
       set name = coalesce(${name ?? null}::text, name),
           folder_id = case when ${folderId === undefined} then folder_id else ${folderId ?? null}::bigint end
     where account_id = ${accountId}
       and id = ${id}`)
}

export function deleteList(db: Db, accountId: string, id: number) {
  return db.run(sql`delete from lists where account_id = ${accountId} and id = ${id}`)
}

const Waiting = row<{ id: string; name: string }>({ id: text, name: text })

/** Those that wait for additions to it. */
export function pauseAutomationsOf(db: Db, accountId: string, listId: number, at: Date) {
  return db.many(
    Waiting,
    sql`
    update automations
       set status = 'paused', updated_at = ${at}
     where account_id = ${accountId}
       and list_id = ${listId}
       and status = 'active'
       and trigger_type = 'list_addition'
    returning id, name`,
  )
}

export function deleteListCount(db: Db, accountId: string, id: number) {
  return db.run(sql`delete from contact_counts where account_id = ${accountId} and list_id = ${id}`)
}
