import type { Db } from '../../../kernel/db.ts'
import { int, row, text, time } from '../../../kernel/row.ts'
import { sql, when } from '../../../kernel/sql.ts'
import type { Slice } from '../../../kernel/v3/paging.ts'
import { blockedSender } from '../../suppressions/queries.ts'

export type BlockedRow = { id: string; email: string; reason: string; sender: string; created_at: Date }

const Blocked = row<BlockedRow>({ id: text, email: text, reason: text, sender: text, created_at: time })

/** `senders`: in lower case. */
export type BlockedFilter = { since?: Date; until?: Date; senders?: string[] }

const matching = (accountId: string, { since, until, senders }: BlockedFilter) => sql`
      from (select s.id, s.email, s.reason, s.created_at, coalesce(m.sender, '') as sender
              from suppressions s
              left join messages m on m.account_id = s.account_id and m.id = s.message_id
             where s.account_id = ${accountId}
               and s.email not like 'erased:%'
            union all
            select id, email, ${blockedSender}::text, created_at, sender
              from blocked_senders
             where account_id = ${accountId}) s
     where true
       ${when(since, (at) => sql`and s.created_at >= ${at}`)}
       ${when(until, (at) => sql`and s.created_at < ${at}`)}
       ${when(senders, (all) => sql`and lower(s.sender) = any(${all}::text[])`)}`

export function listBlocked(db: Db, accountId: string, filter: BlockedFilter, slice: Slice) {
  return db.many(
    Blocked,
    sql`
    select s.id, s.email, s.reason, s.sender, s.created_at
       ${matching(accountId, filter)}
       ${when(slice.after, (after) => (slice.ascending ? sql`and s.id > ${after}` : sql`and s.id < ${after}`))}
     order by ${slice.ascending ? sql`s.id` : sql`s.id desc`}
     limit ${slice.limit}
    offset ${slice.offset}`,
  )
}

const Count = row<{ count: number }>({ count: int })

export function countBlocked(db: Db, accountId: string, filter: BlockedFilter) {
  return db.one(Count, sql`select count(*)::int as count ${matching(accountId, filter)}`)
}
