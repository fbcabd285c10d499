import type { Db } from '../../../kernel/db.ts'
import { json, maybe, row, text } from '../../../kernel/row.ts'
import { sql, when } from '../../../kernel/sql.ts'
import type { Value } from '../../contacts/attributes/values.ts'
import { recipientOf } from '../../contacts/contacts/address-queries.ts'
import type { Status } from '../../messages/model.ts'

type Campaign = { accountId: string; campaignId: string }

const Id = row<{ id: string }>({ id: text })

type Span = { statuses: readonly Status[]; after: string | null; limit: number }

/** The next messages in these states, in the order of their identifiers: the index has the status before it. */
export function listSpan(db: Db, { accountId, campaignId }: Campaign, { statuses, after, limit }: Span) {
  return db.many(
    Id,
    sql`
    select found.id
      from unnest(${[...statuses]}::text[]) as s (status)
     cross join lateral (select id
                           from messages
                          where account_id = ${accountId}
                            and campaign_id = ${campaignId}
                            and status = s.status
                            ${when(after ?? undefined, (last) => sql`and id > ${last}`)}
                          order by id
                          limit ${limit}) found
     order by found.id
     limit ${limit}`,
  )
}

export type WantedRow = {
  recipient: string
  sms: string | null
  attributes: Record<string, Value> | null
  reason: string | null
}

const Wanted = row<WantedRow>({ recipient: text, sms: maybe(text), attributes: json(), reason: maybe(text) })

/** Any of `some` must be among the bits of messages.seen, and none of `none`; some = 0 asks for nothing. */
export type Seen = { some: number; none: number; bounceType?: 'hard' | 'soft' }

/** Those of the span who did it, with the contact as it is now, and the latest bounce when that is asked for. */
export function listWanted(db: Db, accountId: string, ids: string[], { some, none, bounceType }: Seen) {
  return db.many(
    Wanted,
    sql`
    select m.recipient, c.sms, c.attributes,
           (select e.data ->> 'reason'
              from message_events e
             where e.account_id = m.account_id
               and e.message_id = m.id
               and e.type = 'bounce'
               and coalesce(e.data ->> 'bounce_type', 'soft') = ${bounceType ?? null}
             order by e.id desc
             limit 1) as reason
      from messages m
      left join lateral (${recipientOf(accountId)}) o on true
      left join contacts c on c.account_id = m.account_id and c.id = o.contact_id
     where m.account_id = ${accountId}
       and m.id = any(${ids}::uuid[])
       and (${some}::int = 0 or m.seen & ${some}::int <> 0)
       and m.seen & ${none}::int = 0
     order by m.id`,
  )
}
