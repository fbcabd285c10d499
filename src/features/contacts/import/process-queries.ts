import type { Db } from '../../../kernel/db.ts'
import { int, json, maybe, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import type { FaultyRow } from '../processes/queries.ts'
import type { GivenRow } from './given-rows.ts'

export type ImportSettings = {
  listIds: string[]
  emailBlacklist: boolean
  smsBlacklist: boolean
  updateExisting: boolean
  emptyAttributes: boolean
  notifyUrl: string | null
  /** Asked for with a test key. */
  isTest?: boolean
}

const Id = row<{ id: string }>({ id: text })

type NewProcess = { accountId: string; settings: ImportSettings; fileUrl: string | null; at: Date }

export function insertProcess(db: Db, { accountId, settings, fileUrl, at }: NewProcess) {
  return db.one(
    Id,
    sql`
    insert into processes (account_id, name, settings, file_url, due_at, created_at)
    values (${accountId}, 'IMPORTUSER', ${JSON.stringify(settings)}, ${fileUrl}, ${at}, ${at})
    returning id`,
  )
}

export type ProcessRef = { accountId: string; id: string }

export function insertChunk(db: Db, { accountId, id }: ProcessRef, number: number, rows: GivenRow[]) {
  return db.run(sql`
    insert into process_chunks (account_id, process_id, number, rows)
    values (${accountId}, ${id}, ${number}, ${JSON.stringify(rows)})`)
}

/** From now on its rows are worked off; without any it is over. */
export function markStored(
  db: Db,
  { accountId, id }: ProcessRef,
  { total, chunks }: { total: number; chunks: number },
  at: Date,
) {
  return db.run(sql`
    update processes
       set file_url = null, total = ${total}, chunks = ${chunks}, due_at = ${at},
           status = case when ${chunks}::int = 0 then 'completed' else status end,
           completed_at = case when ${chunks}::int = 0 then greatest(${at}::timestamptz, created_at) end
     where account_id = ${accountId}
       and id = ${id}`)
}

export type ClaimedProcess = {
  account_id: string
  id: string
  settings: ImportSettings
  file_url: string | null
  next_chunk: number
  chunks: number
  faulty_rows: FaultyRow[]
  ignored_columns: string[]
  attempts: number
}

const Claimed = row<ClaimedProcess>({
  account_id: text,
  id: text,
  settings: json(),
  file_url: maybe(text),
  next_chunk: int,
  chunks: int,
  faulty_rows: json(),
  ignored_columns: json(),
  attempts: int,
})

// Accounts are found by skipping through the index: the cost follows their number, not that of what waits.
const openProcess = sql`status in ('queued', 'processing')`
export const waitingAccounts = sql`
    -- all accounts: the job works for each of them
    waiting (account_id) as (
      (select account_id from processes where ${openProcess} order by account_id limit 1)
      union all
      select (select p.account_id
                from processes p
               where ${openProcess} and p.account_id > w.account_id
               order by p.account_id
               limit 1)
        from waiting w
       where w.account_id is not null)`

type Claim = {
  now: Date
  /** What is to be done: a file is to be fetched, or rows are to be written. */
  of: 'file' | 'rows'
  /** Accounts that have had their share. */
  without?: string[]
}

/**
 * Of an account that chance decides on, so that none waits for all that others have sent; of its imports the one with
 * the least done, so that a short one does not wait for the end of a long one.
 */
export function claimProcess(db: Db, { now, of, without = [] }: Claim) {
  return db.maybe(
    Claimed,
    sql`
    -- all accounts: the job works for each of them
    with recursive ${waitingAccounts}
    select d.*
      from (select account_id
              from waiting
             where account_id <> all(${without}::bigint[])
             order by random()) w
     cross join lateral (
           select p.account_id, p.id, p.settings, p.file_url, p.next_chunk, p.chunks, p.faulty_rows, p.ignored_columns,
                  p.attempts
             from processes p
            where p.account_id = w.account_id
              and ${openProcess}
              and p.name = 'IMPORTUSER'
              and p.due_at <= ${now}
              and p.file_url is ${of === 'file' ? sql`not null` : sql`null`}
            order by p.next_chunk, p.id
            limit 1
              for update skip locked) d
     limit 1`,
  )
}

/** Until then nobody else takes it on. */
export function leaseProcess(db: Db, { accountId, id }: ProcessRef, until: Date) {
  return db.run(sql`
    update processes
       set status = 'processing', due_at = ${until}
     where account_id = ${accountId}
       and id = ${id}`)
}

/** Nothing when the lease is somebody else's by now, or its rows are stored. */
export function holdUnread(db: Db, { accountId, id }: ProcessRef, leasedUntil: Date) {
  return db.maybe(
    Id,
    sql`
    select id
      from processes
     where account_id = ${accountId} and id = ${id} and file_url is not null and status = 'processing'
       and due_at = ${leasedUntil}
       for update`,
  )
}

const Rows = row<{ rows: GivenRow[] }>({ rows: json() })

export function takeChunk(db: Db, { accountId, id }: ProcessRef, number: number) {
  return db.one(
    Rows,
    sql`
    delete from process_chunks
     where account_id = ${accountId} and process_id = ${id} and number = ${number}
    returning rows`,
  )
}

export type Tally = {
  created: number
  updated: number
  skipped: number
  keptOut: number
  faulty: number
  faultyRows: FaultyRow[]
  ignoredColumns: string[]
}

/** After the last chunk the process is completed. */
export function advanceProcess(db: Db, { accountId, id }: ProcessRef, tally: Tally, at: Date) {
  return db.run(sql`
    update processes
       set next_chunk = next_chunk + 1,
           attempts = 0,
           created = created + ${tally.created},
           updated = updated + ${tally.updated},
           skipped = skipped + ${tally.skipped},
           kept_out = kept_out + ${tally.keptOut},
           faulty = faulty + ${tally.faulty},
           faulty_rows = ${JSON.stringify(tally.faultyRows)},
           ignored_columns = ${JSON.stringify(tally.ignoredColumns)},
           status = case when next_chunk + 1 >= chunks then 'completed' else 'processing' end,
           completed_at = case when next_chunk + 1 >= chunks then greatest(${at}::timestamptz, created_at) end
     where account_id = ${accountId}
       and id = ${id}`)
}

export function postponeProcess(db: Db, { accountId, id }: ProcessRef, until: Date) {
  return db.run(sql`
    update processes
       set attempts = attempts + 1, due_at = ${until}
     where account_id = ${accountId} and id = ${id} and status in ('queued', 'processing')`)
}

export async function failProcess(db: Db, { accountId, id }: ProcessRef, error: string, at: Date) {
  await db.run(sql`delete from process_chunks where account_id = ${accountId} and process_id = ${id}`)
  await db.run(sql`
    update processes
       set status = 'failed', error = ${error}, file_url = null,
           completed_at = greatest(${at}::timestamptz, created_at)
     where account_id = ${accountId} and id = ${id} and status in ('queued', 'processing')`)
}
