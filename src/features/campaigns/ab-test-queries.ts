import type { Db } from '../../kernel/db.ts'
import { int, json, row, text } from '../../kernel/row.ts'
import { type Sql, sql } from '../../kernel/sql.ts'
import type { Counted } from '../messages/counts/read-counts.ts'
import type { CampaignRef } from './queries.ts'

export type VersionRow = {
  variant: string
  sent: number
  delivered: number
  bounced: number
  openers: number
  clickers: number
  unsubscribed: number
  hard_bounces: number
  soft_bounces: number
  complaints: number
  links: { link: string; clicksCount: number }[]
}

const Version = row<VersionRow>({
  variant: text,
  sent: int,
  delivered: int,
  bounced: int,
  openers: int,
  clickers: int,
  unsubscribed: int,
  hard_bounces: int,
  soft_bounces: int,
  complaints: int,
  links: json(),
})

/** Of the recipients of the test; the rest, which got the winner, is left out. */
export function readVersions(db: Db, { accountId, id }: CampaignRef, { robots, proxies }: Counted) {
  const kind = sql`e.data ->> 'classification'`
  const byPeople = robots ? sql`true` : sql`${kind} is distinct from 'robot'`
  const seen = proxies ? byPeople : sql`${byPeople} and ${kind} is distinct from 'privacy_proxy'`
  const messagesWith = (condition: Sql) => sql`count(distinct message_id) filter (where ${condition})::int`
  return db.many(
    Version,
    sql`
    with happened as (
      select m.variant, m.status, m.id as message_id, e.type, e.data ->> 'bounce_type' as bounce_type,
             e.data ->> 'url' as url, ${byPeople} as by_people, ${seen} as seen
        from messages m
        left join message_events e on e.account_id = m.account_id and e.message_id = m.id
       where m.account_id = ${accountId}
         and m.campaign_id = ${id}
         and m.variant in ('A', 'B'))
    select variant,
           ${messagesWith(sql`status in ('sent', 'delivered', 'failed')`)} as sent,
           ${messagesWith(sql`status = 'delivered'`)} as delivered,
           ${messagesWith(sql`type = 'bounce'`)} as bounced,
           ${messagesWith(sql`type = 'open' and seen`)} as openers,
           ${messagesWith(sql`type = 'click' and by_people`)} as clickers,
           ${messagesWith(sql`type = 'unsubscribe'`)} as unsubscribed,
           ${messagesWith(sql`type = 'bounce' and bounce_type = 'hard'`)} as hard_bounces,
           ${messagesWith(sql`type = 'bounce' and bounce_type is distinct from 'hard'`)} as soft_bounces,
           ${messagesWith(sql`type = 'complaint'`)} as complaints,
           (select coalesce(json_agg(json_build_object('link', c.url, 'clicksCount', c.count) order by c.url), '[]')
              from (select url, count(*)::int as count
                      from happened l
                     where l.variant = h.variant and type = 'click' and by_people and url is not null
                     group by url) c) as links
      from happened h
     group by variant`,
  )
}
