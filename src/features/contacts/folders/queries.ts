import type { Db } from '../../../kernel/db.ts'
import { int, row, text } from '../../../kernel/row.ts'
import { sql, when } from '../../../kernel/sql.ts'
import type { Slice } from '../../../kernel/v3/paging.ts'

export type FolderRow = { id: string; name: string; subscribers: string; people: string }

const Folder = row<FolderRow>({ id: text, name: text, subscribers: text, people: text })

const people = sql`
  (select count(*)
     from (select m.contact_id
             from lists l
             join list_members m on m.account_id = l.account_id and m.list_id = l.id
            where l.account_id = f.account_id and l.folder_id = f.id
            group by m.contact_id) once)`

// Somebody on two lists of a folder is one of its people. Telling them apart takes reading every member, which is left
// out where one list has them all.
const columns = sql`
  f.id, f.name, counted.subscribers,
  case when counted.joined > 1 then ${people} else counted.subscribers end as people`

const counted = sql`
  cross join lateral (
    select coalesce(sum(n.contacts), 0)::bigint as subscribers, count(*) as joined
      from lists l
      join contact_counts n on n.account_id = l.account_id and n.list_id = l.id and n.contacts > 0
     where l.account_id = f.account_id and l.folder_id = f.id) counted`

export function findFolder(db: Db, accountId: string, id: number) {
  return db.maybe(
    Folder,
    sql`select ${columns} from folders f ${counted} where f.account_id = ${accountId} and f.id = ${id}`,
  )
}

export function listFolders(db: Db, accountId: string, slice: Slice) {
  return db.many(
    Folder,
    sql`
    select ${columns}
      from folders f
      ${counted}
     where f.account_id = ${accountId}
       ${when(slice.after, (after) => (slice.ascending ? sql`and f.id > ${after}` : sql`and f.id < ${after}`))}
     order by ${slice.ascending ? sql`f.id` : sql`f.id desc`}
     limit ${slice.limit}
    offset ${slice.offset}`,
  )
}

const Count = row<{ count: number }>({ count: int })

export function countFolders(db: Db, accountId: string) {
  return db.one(Count, sql`select count(*)::int as count from folders where account_id = ${accountId}`)
}

const Id = row<{ id: string }>({ id: text })

/** It stays until the transaction ends, so that a list can be put into it. */
export function holdFolder(db: Db, accountId: string, id: number) {
  return db.maybe(
    Id,
    sql`select id from folders where account_id = ${accountId} and id = ${id} for key share`,
  )
}

export function insertFolder(db: Db, accountId: string, name: string, at: Date) {
  return db.one(
    Id,
    sql`
    insert into folders (account_id, name, created_at) values (${accountId}, ${name}, ${at}) returning id`,
  )
}

export function renameFolder(db: Db, accountId: string, id: number, name: string) {
  return db.run(sql`update folders set name = ${name} where account_id = ${accountId} and id = ${id}`)
}

/** Its lists stay, in no folder. */
export function deleteFolder(db: Db, accountId: string, id: number) {
  return db.run(sql`delete from folders where account_id = ${accountId} and id = ${id}`)
}
