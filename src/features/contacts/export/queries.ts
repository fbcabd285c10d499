import type { Db } from '../../../kernel/db.ts'
import { int, json, maybe, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { type ProcessRef, waitingAccounts } from '../import/process-queries.ts'

export type ExportFilter = {
  listId?: string
  segmentId?: number
  status?: 'subscribed' | 'unsubscribed'
  leftListId?: string
}

/** Each kind of export, by the name of its process, has a filter of its own. */
export type ExportSettings<Filter> = {
  columns: string[]
  /** Those columns that are attributes although contacts have something else of that name. */
  attributes?: string[]
  filter: Filter
  notifyUrl: string | null
}

export type NewExport = { name: 'EXPORTUSER' | 'EXPORTRECIPIENTS'; settings: ExportSettings<unknown> }

const Id = row<{ id: string }>({ id: text })

export function insertExport(db: Db, accountId: string, { name, settings }: NewExport, at: Date) {
  return db.one(
    Id,
    sql`
    insert into processes (account_id, name, settings, due_at, created_at)
    values (${accountId}, ${name}, ${JSON.stringify(settings)}, ${at}, ${at})
    returning id`,
  )
}

const Next = row<{ account_id: string; id: string; name: string }>({ account_id: text, id: text, name: text })

/**
 * Of an account that chance decides on, so that none waits for all that others have asked for; of its exports the one
 * with the least done, so that a short one does not wait for the end of a long one.
 */
export function nextExport(db: Db, names: string[], now: Date) {
  return db.maybe(
    Next,
    sql`
    -- all accounts: the job works for each of them
    with recursive ${waitingAccounts}
    select d.*
      from (select account_id from waiting where account_id is not null order by random()) w
     cross join lateral (
           select account_id, id, name
             from processes p
            where p.account_id = w.account_id
              and status in ('queued', 'processing')
              and name = any(${names}::text[])
              and due_at <= ${now}
            order by next_chunk, id
            limit 1) d
     limit 1`,
  )
}

/** Whoever erases a person of the account waits until the page is written, and pages wait for the erasure. */
export function holdForExport(db: Db, accountId: string) {
  return db.run(sql`select pg_advisory_xact_lock_shared(hashtextextended(${`export ${accountId}`}, 0))`)
}

export function holdAgainstExports(db: Db, accountId: string) {
  return db.run(sql`select pg_advisory_xact_lock(hashtextextended(${`export ${accountId}`}, 0))`)
}

export type ClaimedExport = {
  settings: ExportSettings<never>
  next_chunk: number
  read_to: string | null
  attempts: number
}

const Claimed = row<ClaimedExport>({
  settings: json(),
  next_chunk: int,
  read_to: maybe(text),
  attempts: int,
})

/** Nothing when somebody else has it, or has finished it meanwhile. */
export function claimExport(db: Db, { accountId, id }: ProcessRef) {
  return db.maybe(
    Claimed,
    sql`
    select settings, next_chunk, read_to, attempts
      from processes
     where account_id = ${accountId} and id = ${id} and status in ('queued', 'processing')
       for update skip locked`,
  )
}

export type WrittenPage = { csv: string; readTo: string | null; lines: number; fileToken: string | null }

/** A page of the file and the marker behind it. With a token the file is complete. */
export async function addPage(db: Db, { accountId, id }: ProcessRef, page: WrittenPage, at: Date) {
  const { csv, readTo, lines, fileToken } = page
  await db.run(sql`
    insert into export_chunks (account_id, process_id, number, csv)
    select account_id, id, next_chunk, ${csv} from processes where account_id = ${accountId} and id = ${id}`)
  await db.run(sql`
    update processes
       set next_chunk = next_chunk + 1, read_to = ${readTo}, total = total + ${lines},
           attempts = 0, file_token = ${fileToken},
           status = case when ${fileToken}::text is null then 'processing' else 'completed' end,
           completed_at = case when ${fileToken}::text is not null then greatest(${at}::timestamptz, created_at) end
     where account_id = ${accountId}
       and id = ${id}`)
}

export function deletePages(db: Db, { accountId, id }: ProcessRef) {
  return db.run(sql`delete from export_chunks where account_id = ${accountId} and process_id = ${id}`)
}

export type ExportFile = { account_id: string; id: string; pages: number }

const File = row<ExportFile>({ account_id: text, id: text, pages: int })

export function findFile(db: Db, fileToken: string, completedSince: Date) {
  return db.maybe(
    File,
    sql`
    -- all accounts: the token says whose file it is
    select account_id, id, next_chunk as pages
      from processes
     where file_token = ${fileToken} and completed_at > ${completedSince}`,
  )
}

const Page = row<{ csv: string }>({ csv: text })

export function readPage(db: Db, { account_id, id }: ExportFile, number: number) {
  return db.maybe(
    Page,
    sql`
    select csv from export_chunks where account_id = ${account_id} and process_id = ${id} and number = ${number}`,
  )
}

/** The processes stay, to say that there was a file. */
export function deleteOldFiles(db: Db, completedBefore: Date) {
  return db.run(sql`
    -- all accounts: the job works for each of them
    with old as (
      update processes
         set file_token = null
       where file_token is not null and completed_at < ${completedBefore}
      returning account_id, id)
    delete from export_chunks c using old where c.account_id = old.account_id and c.process_id = old.id`)
}

const Open = row<{ id: string; pages: number }>({ id: text, pages: int })

/** The exports of which there are pages. */
export function listFiles(db: Db, accountId: string) {
  return db.many(
    Open,
    sql`
    select p.id, p.next_chunk as pages
      from processes p
     where p.account_id = ${accountId}
       and exists (select 1 from export_chunks c where c.account_id = p.account_id and c.process_id = p.id)
     order by p.id`,
  )
}

const Found = row<{ number: number }>({ number: int })

/** A page among these that names the person, also where it begins with what a spreadsheet would run. */
export function findInPages(
  db: Db,
  { accountId, id }: ProcessRef,
  { from, to }: { from: number; to: number },
  { likes, pattern }: { likes: string[]; pattern: string },
) {
  return db.maybe(
    Found,
    sql`
    select number
      from export_chunks
     where account_id = ${accountId}
       and process_id = ${id}
       and number >= ${from}
       and number < ${to}
       and case when lower(csv) like any(${likes}::text[])
                then csv ~* ${pattern} or regexp_replace(csv, '''(?=[-=+@])', '', 'g') ~* ${pattern}
                else false
           end
     limit 1`,
  )
}

/** A finished export has no file any more; one under way starts from its beginning. */
export async function dropFile(db: Db, ref: ProcessRef) {
  await deletePages(db, ref)
  await db.run(sql`
    update processes
       set next_chunk = 0, read_to = null, total = 0, file_token = null,
           error = case when status = 'completed'
                        then 'The file was deleted because a person in it was erased; export again.' end
     where account_id = ${ref.accountId}
       and id = ${ref.id}`)
}
