import type { Db } from '../../../kernel/db.ts'
import { int, row, text } from '../../../kernel/row.ts'
import { sql, when } from '../../../kernel/sql.ts'
import type { Slice } from '../../../kernel/v3/paging.ts'

export type FolderRow = { id: string; name: string; subscribers: string }

const Folder = row<FolderRow>({ id: text, name: text, subscribers: text })

// Somebody on two lists of a folder counts twice: telling them apart would mean to read every member.
const columns = sql`
  f.id, f.name,
  (select coalesce(sum(n.contacts), 0)
     from lists l
     join contact_counts n on n.account_id = l.account_id and n.list_id = l.id
    where l.account_id = f.account_id and l.folder_id = f.id)::bigint as subscribers`

export function findFolder(db: Db, accountId: string, id: number) {
  return db.maybe(
    Folder,
    sql`select ${columns} from folders f where f.account_id = ${accountId} and f.id = ${id}`,
  )
}

export function listFolders(db: Db, accountId: string, slice: Slice) {
  return db.many(
    Folder,
    sql`
    select ${columns}
      from folders f
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
