import type { Db } from '../../kernel/db.ts'
import { maybe, row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

type Old = {
  /** Where the last portion ended. */
  after: string
  /** The first identifier that is not old. */
  before: string
  /** The time of that identifier. */
  at: Date
  limit: number
}

const Portion = row<{ last: string | null }>({ last: maybe(text) })

/** What a message still needs is kept however old it is: it may have been held for long. Null when none is left. */
export function deleteOldContents(db: Db, { after, before, at, limit }: Old) {
  return db.one(
    Portion,
    sql`
    -- all accounts: the job serves them all
    with looked as materialized (
      select message_id from message_bodies
       where message_id > ${after} and message_id < ${before}
       order by message_id
       limit ${limit}
    ), done as materialized (
      select l.message_id
        from looked l
        join messages m on m.id = l.message_id
       where m.status not in ('queued', 'held')
         and greatest(m.created_at, m.scheduled_at, m.sent_at, m.delivered_at) < ${at}
    ), files as (
      delete from message_attachments where message_id in (select message_id from done)
    ), bodies as (
      delete from message_bodies where message_id in (select message_id from done))
    select max(message_id::text collate "C") as last from looked`,
  )
}

export function deleteOldCaptured(db: Db, { before, limit }: Pick<Old, 'before' | 'limit'>) {
  return db.run(sql`
    -- all accounts: the job serves them all
    delete from captured_messages
     where id in (select id from captured_messages where id < ${before} order by id limit ${limit})`)
}
