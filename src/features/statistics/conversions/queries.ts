import type { Db } from '../../../kernel/db.ts'
import { json, maybe, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { addressesOf, contactOf, wasOwn } from '../../contacts/contacts/address-queries.ts'

export type AttributedBy = 'explicit' | 'click' | 'delivery'

export type Conversion = { id: string; campaign_id: string | null; attributed_by: AttributedBy | null }

const Recorded = row<Conversion>({ id: text, campaign_id: maybe(text), attributed_by: maybe(json()) })

export type NewConversion = {
  accountId: string
  email: string
  type: 'purchase' | 'signup'
  /** Decimal text, and its currency. */
  money: { amount: string; currency: string } | null
  at: Date
  externalId: string | null
  campaignId: string | null
  attributedBy: AttributedBy | null
  createdAt: Date
}

/** Nothing when the account knows the external identifier. Of erased people the sum is kept, and no address. */
export function insertConversion(db: Db, one: NewConversion) {
  return db.maybe(
    Recorded,
    sql`
    insert into conversions
      (account_id, email, type, amount, currency, at, external_id, campaign_id, attributed_by, created_at)
    values (${one.accountId},
            case when not exists (select 1
                                    from suppressions
                                   where account_id = ${one.accountId} and email = erased_name(${one.email}::text))
                 then ${one.email}::text end, ${one.type}, ${one.money?.amount ?? null}::numeric,
            ${one.money?.currency ?? null}, ${one.at}, ${one.externalId}, ${one.campaignId}, ${one.attributedBy},
            ${one.createdAt})
    on conflict (account_id, external_id) where external_id is not null do nothing
    returning id, campaign_id, attributed_by`,
  )
}

export function findConversion(db: Db, accountId: string, externalId: string) {
  return db.maybe(
    Recorded,
    sql`
    select id, campaign_id, attributed_by
      from conversions
     where account_id = ${accountId}
       and external_id = ${externalId}`,
  )
}

const Preceding = row<{ campaign_id: string; attributed_by: 'click' | 'delivery' }>({
  campaign_id: text,
  attributed_by: json(),
})

type Person = { accountId: string; email: string }

/**
 * The campaign that the person clicked last, or else that reached them last, at whichever address they had then. A
 * robot's clicks are nobody's. What was sent and did not bounce reached them: not every upstream tells of deliveries.
 */
export function findPreceding(db: Db, { accountId, email }: Person, since: Date, at: Date) {
  return db.maybe(
    Preceding,
    sql`
    with person as materialized (
      select ${contactOf({ accountId, email })} as id
    ), own as materialized (
      ${addressesOf(accountId, sql`(select id from person)`)}
      union all
      select ${email}::text, '-infinity', 'infinity' from person where id is null
    ), mail as (
      select m.id, m.campaign_id, m.status, coalesce(m.delivered_at, m.sent_at) as reached_at, m.seen
        from own o
        join messages m on m.account_id = ${accountId} and ${wasOwn}
       where m.campaign_id is not null
         -- One that was deleted brings nothing any more.
         and m.campaign_id in (select c.id from campaigns c where c.account_id = ${accountId}))
    select campaign_id, attributed_by
      from (select m.campaign_id, 'click' as attributed_by, e.at
              from mail m
              join message_events e on e.account_id = ${accountId} and e.message_id = m.id
             where m.seen & 24 <> 0
               and e.type = 'click'
               and e.data ->> 'classification' is distinct from 'robot'
            union all
            select campaign_id, 'delivery', reached_at from mail where status in ('sent', 'delivered')) preceding
     where at between ${since} and ${at}
     order by attributed_by, at desc
     limit 1`,
  )
}
