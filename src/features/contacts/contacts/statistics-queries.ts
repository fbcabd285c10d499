import type { Db } from '../../../kernel/db.ts'
import { int, maybe, row, text, time } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import type { Range } from '../../../kernel/v3/dates.ts'
import { addressesOf, wasOwn } from './address-queries.ts'

export type ActivityRow = {
  campaign_id: string
  type: string
  bounce_type: string | null
  url: string | null
  count: number
  at: Date
  ip: string | null
}

const Activity = row<ActivityRow>({
  campaign_id: text,
  type: text,
  bounce_type: maybe(text),
  url: maybe(text),
  count: int,
  at: time,
  ip: maybe(text),
})

/** Which opens and clicks the account does not count. */
type Left = { robots: boolean; proxies: boolean }

const most = 5_000

type Who = { accountId: string; contactId: string }

/** What campaigns sent to a contact and what came of it, a row for each kind of event and link; the latest first. */
export function readActivity(db: Db, { accountId, contactId }: Who, range: Range, left: Left) {
  return db.many(
    Activity,
    sql`
    with own as materialized (${addressesOf(accountId, sql`${contactId}::bigint`)})
    select m.campaign_id, e.type, e.data ->> 'bounce_type' as bounce_type, e.data ->> 'url' as url,
           count(*)::int as count, max(e.at) as at, (array_agg(e.data ->> 'ip' order by e.at desc))[1] as ip
      from own o
      join messages m on m.account_id = ${accountId} and ${wasOwn}
      join message_events e on e.account_id = m.account_id and e.message_id = m.id
     where m.campaign_id is not null
       and e.type in ('sent', 'delivery', 'open', 'click', 'bounce', 'complaint', 'unsubscribe')
       and e.at >= ${range.since}
       and e.at < ${range.until}
       and not (${left.robots} and e.type in ('open', 'click') and e.data ->> 'classification' = 'robot')
       and not (${left.proxies} and e.type = 'open' and e.data ->> 'classification' = 'privacy_proxy')
     group by 1, 2, 3, 4
     order by max(e.at) desc
     limit ${most}`,
  )
}

const Ended = row<{ at: Date }>({ at: time })

/** When somebody else than the person unsubscribed them; the latest first. */
export function listUnsubscribed(
  db: Db,
  { accountId, contactId }: Who,
  range: Range,
  own: readonly string[],
) {
  return db.many(
    Ended,
    sql`
    select changed_at as at
      from contact_history
     where account_id = ${accountId}
       and contact_id = ${contactId}
       and attribute = 'STATUS'
       and new_value = '"unsubscribed"'
       and changed_at >= ${range.since}
       and changed_at < ${range.until}
       and source <> all(${[...own]}::text[])
     order by id desc
     limit ${most}`,
  )
}
