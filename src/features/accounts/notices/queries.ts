import type { Db } from '../../../kernel/db.ts'
import { json, maybe, row, text, time } from '../../../kernel/row.ts'
import { sql, when } from '../../../kernel/sql.ts'

export type NoticeRow = {
  id: string
  code: string
  subject: string
  message: string
  details: unknown
  created_at: Date
  resolved_at: Date | null
}

const Notice = row<NoticeRow>({
  id: text,
  code: text,
  subject: text,
  message: text,
  details: json(),
  created_at: time,
  resolved_at: maybe(time),
})

export type NoticeRef = { accountId: string; code: string; subject: string }

export type NewNotice = NoticeRef & { id: string; message: string; details: string; at: Date }

/** Tells how many are new: one that is open already stays as it is. */
export function insertNotice(db: Db, notice: NewNotice) {
  const { id, accountId, code, subject, message, details, at } = notice
  return db.run(sql`
    insert into notices (id, account_id, code, subject, message, details, created_at)
    values (${id}, ${accountId}, ${code}, ${subject}, ${message}, ${details}::jsonb, ${at})
    on conflict (account_id, code, subject) where resolved_at is null do nothing`)
}

/** One that is open already says from now on what this one does. */
export function insertOrReword(db: Db, notice: NewNotice) {
  const { id, accountId, code, subject, message, details, at } = notice
  return db.run(sql`
    insert into notices as n (id, account_id, code, subject, message, details, created_at)
    values (${id}, ${accountId}, ${code}, ${subject}, ${message}, ${details}::jsonb, ${at})
    on conflict (account_id, code, subject) where resolved_at is null do update
       set message = excluded.message, details = excluded.details
     where (n.message, n.details) is distinct from (excluded.message, excluded.details)`)
}

export function closeNotice(db: Db, { accountId, code, subject }: NoticeRef, at: Date) {
  return db.run(sql`
    update notices set resolved_at = ${at}
     where account_id = ${accountId} and code = ${code} and subject = ${subject} and resolved_at is null`)
}

type Filter = { open?: boolean; after?: string; limit: number }

export function listNotices(db: Db, accountId: string, { open, after, limit }: Filter) {
  return db.many(
    Notice,
    sql`
    select id, code, subject, message, details, created_at, resolved_at
      from notices
     where account_id = ${accountId}
       ${when(open, (wanted) => sql`and (resolved_at is null) = ${wanted}`)}
       ${when(after, (position) => sql`and id < ${position}`)}
     order by id desc
     limit ${limit}`,
  )
}
