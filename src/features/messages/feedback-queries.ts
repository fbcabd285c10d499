import type { Db } from '../../kernel/db.ts'
import { bool, int, maybe, row, text, time } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { isDoubtful } from './event-queries.ts'

/** False when it was seen before. Of two at the same time, the second waits for the first's commit. */
export async function rememberFeedback(
  db: Db,
  seen: { provider: string; id: string; at: Date },
): Promise<boolean> {
  const inserted = await db.run(sql`
    insert into feedback_seen (provider, id, seen_at)
    values (${seen.provider}, ${seen.id}, ${seen.at})
    on conflict (provider, id) do nothing`)
  return inserted > 0
}

export function deleteOldFeedback(db: Db, { before, limit }: { before: Date; limit: number }) {
  return db.run(sql`
    delete from feedback_seen
     where ctid = any(array(select ctid
                              from feedback_seen
                             where seen_at < ${before}
                             order by seen_at
                             limit ${limit}
                               for update skip locked))`)
}

export type FeedbackTarget = {
  id: string
  account_id: string
  recipient: string
  status: string
  attempts: number
  sent_at: Date | null
  delivered_at: Date | null
  /** Given up, or taken back, although it may have left. */
  is_doubtful: boolean
}

const Target = row<FeedbackTarget>({
  id: text,
  account_id: text,
  recipient: text,
  status: text,
  attempts: int,
  sent_at: maybe(time),
  delivered_at: maybe(time),
  is_doubtful: bool,
})

const target = sql`id, account_id, recipient, status, attempts, sent_at, delivered_at, ${isDoubtful} as is_doubtful`

/** The row stays locked: what is recorded about one message is recorded one after the other. */
export function findByRef(db: Db, ref: string) {
  return db.maybe(
    Target,
    sql`
    -- all accounts: an upstream knows the message, not its account
    select ${target}
      from messages
     where id = ${ref} and mode = 'live'
       for update`,
  )
}

export function findByUpstreamId(db: Db, upstreamId: string, recipient: string) {
  return db.maybe(
    Target,
    sql`
    -- all accounts: an upstream knows the message, not its account
    select ${target}
      from messages
     where upstream_id = ${upstreamId}
       and recipient = ${recipient}
       and mode = 'live'
     order by id
     limit 1
       for update`,
  )
}

export type Taken = { accountId: string; id: string; at: Date; upstreamId: string | null }

/** True when nobody knew yet that the upstream has it. Its row in the queue is left to the next claim. */
export async function markTaken(db: Db, { accountId, id, at, upstreamId }: Taken): Promise<boolean> {
  const changed = await db.run(sql`
    update messages
       set status = 'sent', sent_at = ${at}, last_error = null, held_reason = null,
           upstream_id = coalesce(${upstreamId}, upstream_id)
     where account_id = ${accountId}
       and id = ${id}
       and status in ('queued', 'held')`)
  return changed > 0
}

/** Its status stays, since nothing leaves it; its times and its last error say what is known by now. */
export function markTakenAfterAll(db: Db, { accountId, id, at, upstreamId }: Taken, said: string) {
  return db.run(sql`
    update messages
       set sent_at = coalesce(sent_at, ${at}),
           last_error = case when last_error ->> 'code' in ('outcome_unknown', 'restored')
                             then last_error || jsonb_build_object('message', ${said}::text)
                             else last_error end,
           upstream_id = coalesce(${upstreamId}, upstream_id)
     where account_id = ${accountId}
       and id = ${id}`)
}

export function markSuppressed(db: Db, accountId: string, id: string, error: string) {
  return db.run(sql`
    update messages
       set status = 'suppressed', last_error = ${error}::jsonb, held_reason = null
     where account_id = ${accountId}
       and id = ${id}
       and status in ('queued', 'held', 'sent')`)
}
