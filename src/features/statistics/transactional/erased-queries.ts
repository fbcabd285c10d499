// Reports on days that are over do not change when somebody is erased: what is counted stays, without the person.
import type { Db } from '../../../kernel/db.ts'
import { type Sql, sql, when } from '../../../kernel/sql.ts'
import type { Range } from '../../../kernel/v3/dates.ts'
import type { Counted } from '../../messages/counts/read-counts.ts'
import { isTransactional } from '../../messages/queries.ts'

// The provider's words. A request is the acceptance, which the message itself tells.
export const reportWord = sql`
  case e.type
    when 'delivery' then 'delivered'
    when 'bounce' then case e.data ->> 'bounce_type' when 'hard' then 'hardBounces' else 'softBounces' end
    when 'complaint' then 'spam'
    when 'click' then 'clicks'
    when 'open' then case e.data ->> 'classification' when 'privacy_proxy' then 'loadedByProxy' else 'opened' end
    when 'unsubscribe' then 'unsubscribed'
    else e.type
  end`

const dayOfUtc = (at: Sql) => sql`(${at} at time zone 'UTC')::date`

/** Before the messages and events of these addresses go. */
export function keepReports(db: Db, { accountId, emails }: { accountId: string; emails: string[] }) {
  return db.run(sql`
    with going as materialized (
      select m.id, gen_random_uuid() as mark, m.created_at, m.tags
        from messages m
       where m.account_id = ${accountId}
         and m.recipient = any(${emails}::text[])
         and ${isTransactional})
    insert into erased_reports (account_id, mark, day, word, is_robot, tags)
    select ${accountId}::bigint, mark, ${dayOfUtc(sql`created_at`)}, 'requests', false, tags from going
    union all
    select e.account_id, g.mark, ${dayOfUtc(sql`e.at`)}, ${reportWord},
           coalesce(e.data ->> 'classification' = 'robot', false), g.tags
      from going g
      join message_events e on e.message_id = g.id
     where e.account_id = ${accountId} and e.type not in ('sent', 'deferred')`)
}

type Of = { range: Range; tags?: string[]; byDay: boolean; counted?: Counted }

/** One row of `day`, `word` and `message_id` for each that was kept. */
export const keptOfErased = (
  accountId: string,
  { range: { since, until }, tags, byDay, counted }: Of,
): Sql => sql`
                    select ${byDay ? sql`to_char(x.day, 'YYYY-MM-DD')` : sql`''`} as day, x.word, x.mark as message_id
                      from erased_reports x
                     where x.account_id = ${accountId}
                       and x.day >= ${dayOfUtc(sql`${since}::timestamptz`)}
                       and x.day < ${until}::timestamptz at time zone 'UTC'
                       ${counted?.robots === false ? sql`and not x.is_robot` : sql``}
                       ${when(tags, (some) => sql`and x.tags && ${some}::text[]`)}`
