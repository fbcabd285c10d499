import type { Db } from '../../../kernel/db.ts'
import { bytes, int, row } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'

const Key = row<{ id: number; key: Buffer }>({ id: int, key: bytes })

export async function ensureTrackingKeys(db: Db, first: Buffer) {
  await db.run(sql`insert into tracking_keys (id, key) values (1, ${first}) on conflict do nothing`)
  return db.many(Key, sql`select id, key from tracking_keys order by id`)
}

const Count = row<{ count: number }>({ count: int })

export type Click = { accountId: string; messageId: string; url: string }

/** Other links of the message that were clicked since then. */
export function countOtherLinks(db: Db, { accountId, messageId, url }: Click, since: Date) {
  return db.one(
    Count,
    sql`
    select count(distinct data ->> 'url')::int as count
      from message_events
     where account_id = ${accountId}
       and message_id = ${messageId}
       and type = 'click'
       and at >= ${since}
       and data ->> 'url' <> ${url}`,
  )
}
