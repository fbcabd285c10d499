// The file that all messages of a campaign carry.
import type { Db } from '../../../kernel/db.ts'
import { bytes, int, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import type { Attachment } from '../../messages/queue-messages.ts'
import type { Ref } from './campaign-queries.ts'

/** Of the campaign c. */
export const lacksFile = sql`
  (coalesce(c.extras ->> 'attachmentUrl', '') <> ''
   and not exists (select 1
                     from campaign_files f
                    where f.account_id = c.account_id
                      and f.campaign_id = c.id
                      and f.url = c.extras ->> 'attachmentUrl'
                      and f.content is not null))`

const Lacking = row<Ref & { url: string }>({ account_id: text, id: text, url: text })

export function listLacking(db: Db) {
  return db.many(
    Lacking,
    sql`
    -- all accounts: the job serves them all
    select c.account_id, c.id, c.extras ->> 'attachmentUrl' as url
      from campaigns c
     where c.in_force = 'in_process' and c.frozen_at is null and ${lacksFile}
     order by c.id
     limit 100`,
  )
}

const Claimed = row<{ tries: number }>({ tries: int })

/** One process fetches it. Nothing where somebody else does, or where it is too early to try again. */
export function claimFile(db: Db, { account_id, id }: Ref, url: string, lease: { now: Date; until: Date }) {
  return db.maybe(
    Claimed,
    sql`
    insert into campaign_files as f (account_id, campaign_id, url, leased_until, tries)
    values (${account_id}, ${id}, ${url}, ${lease.until}, 1)
        on conflict (campaign_id) do update
       set url = excluded.url, leased_until = excluded.leased_until, content = null,
           tries = case when f.url = excluded.url then f.tries + 1 else 1 end
     where f.url <> excluded.url
        or (f.content is null and f.leased_until <= ${lease.now})
    returning tries`,
  )
}

export function keepFile(db: Db, { account_id, id }: Ref, url: string, file: Attachment) {
  return db.run(sql`
    update campaign_files
       set filename = ${file.filename}, content_type = ${file.contentType}, content = ${file.content}
     where account_id = ${account_id}
       and campaign_id = ${id}
       and url = ${url}`)
}

export type Try = { url: string; tries: number }

// Unless somebody has it by now, or tries it again, or the campaign names another.
const isStill = ({ url, tries }: Try) => sql`url = ${url} and tries = ${tries} and content is null`

export function tryFileAgain(db: Db, { account_id, id }: Ref, tried: Try, at: Date) {
  return db.run(sql`
    update campaign_files
       set leased_until = ${at}
     where account_id = ${account_id}
       and campaign_id = ${id}
       and ${isStill(tried)}`)
}

export function dropTry(db: Db, { account_id, id }: Ref, tried: Try) {
  return db.run(sql`
    delete from campaign_files where account_id = ${account_id} and campaign_id = ${id} and ${isStill(tried)}`)
}

export function deleteFile(db: Db, { account_id, id }: Ref) {
  return db.run(sql`delete from campaign_files where account_id = ${account_id} and campaign_id = ${id}`)
}

type FileRow = { filename: string; content_type: string; content: Buffer }

const File = row<FileRow>({ filename: text, content_type: text, content: bytes })

export function findFile(db: Db, { account_id, id }: Ref) {
  return db.one(
    File,
    sql`
    select filename, content_type, content
      from campaign_files
     where account_id = ${account_id}
       and campaign_id = ${id}`,
  )
}
