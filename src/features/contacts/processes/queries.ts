import type { Db } from '../../../kernel/db.ts'
import { int, json, maybe, row, text, time } from '../../../kernel/row.ts'
import { sql, when } from '../../../kernel/sql.ts'
import type { Slice } from '../../../kernel/v3/paging.ts'

export type FaultyRow = { line: number; email: string; reason: string }

export type ProcessRow = {
  id: string
  name: string
  status: 'queued' | 'processing' | 'completed' | 'failed'
  total: number
  created: number
  updated: number
  skipped: number
  kept_out: number
  faulty: number
  faulty_rows: FaultyRow[]
  ignored_columns: string[]
  error: string | null
  created_at: Date
  completed_at: Date | null
  file_token: string | null
}

const Process = row<ProcessRow>({
  id: text,
  name: text,
  status: json(),
  total: int,
  created: int,
  updated: int,
  skipped: int,
  kept_out: int,
  faulty: int,
  faulty_rows: json(),
  ignored_columns: json(),
  error: maybe(text),
  created_at: time,
  completed_at: maybe(time),
  file_token: maybe(text),
})

const columns = sql`
  id, name, status, total, created, updated, skipped, kept_out, faulty, faulty_rows, ignored_columns, error,
  created_at, completed_at, file_token`

export function findProcess(db: Db, accountId: string, id: number) {
  return db.maybe(
    Process,
    sql`select ${columns} from processes where account_id = ${accountId} and id = ${id}`,
  )
}

export function listProcesses(db: Db, accountId: string, slice: Slice) {
  return db.many(
    Process,
    sql`
    select ${columns}
      from processes
     where account_id = ${accountId}
       ${when(slice.after, (after) => (slice.ascending ? sql`and id > ${after}` : sql`and id < ${after}`))}
     order by ${slice.ascending ? sql`id` : sql`id desc`}
     limit ${slice.limit}
    offset ${slice.offset}`,
  )
}

const Id = row<{ id: string }>({ id: text })

export type DoneProcess = { name: 'REMOVECONTACTS'; total: number; at: Date }

/** One that was over when it was asked for. */
export function insertDone(db: Db, accountId: string, { name, total, at }: DoneProcess) {
  return db.one(
    Id,
    sql`
    insert into processes (account_id, name, status, settings, total, due_at, created_at, completed_at)
    values (${accountId}, ${name}, 'completed', '{}', ${total}, ${at}, ${at}, ${at})
    returning id`,
  )
}

const Count = row<{ count: number }>({ count: int })

export function countProcesses(db: Db, accountId: string) {
  return db.one(Count, sql`select count(*)::int as count from processes where account_id = ${accountId}`)
}
