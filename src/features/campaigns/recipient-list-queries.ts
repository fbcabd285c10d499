import type { Db } from '../../kernel/db.ts'
import { json, maybe, row, text, time } from '../../kernel/row.ts'
import { sql, when } from '../../kernel/sql.ts'
import type { Slice } from '../../kernel/v3/paging.ts'
import { recipientOf } from '../contacts/contacts/address-queries.ts'
import { type Status, statuses } from '../messages/model.ts'
import type { CampaignRef } from './queries.ts'

export type RecipientRow = {
  id: string
  recipient: string
  contact_id: string | null
  status: Status
  sent_at: Date | null
  delivered_at: Date | null
}

const Recipient = row<RecipientRow>({
  id: text,
  recipient: text,
  contact_id: maybe(text),
  status: json(),
  sent_at: maybe(time),
  delivered_at: maybe(time),
})

/** A page of each status, put together: the index has the status before the order. */
export function listRecipients(
  db: Db,
  { accountId, id }: CampaignRef,
  { status, slice }: { status: Status | undefined; slice: Slice },
) {
  const order = slice.ascending ? sql`id` : sql`id desc`
  const beyond = (after: string) => (slice.ascending ? sql`and id > ${after}` : sql`and id < ${after}`)
  return db.many(
    Recipient,
    sql`
    select m.id, m.recipient, (${recipientOf(accountId)}) as contact_id, m.status, m.sent_at, m.delivered_at
      from (select found.*
              from unnest(${status ? [status] : [...statuses]}::text[]) as s (status)
             cross join lateral (
                   select id, recipient, status, sent_at, delivered_at, created_at
                     from messages
                    where account_id = ${accountId}
                      and campaign_id = ${id}
                      and status = s.status
                      ${when(slice.after, beyond)}
                    order by ${order}
                    limit ${slice.limit + slice.offset}) found
             order by ${order}
             limit ${slice.limit}
            offset ${slice.offset}) m
     order by ${slice.ascending ? sql`m.id` : sql`m.id desc`}`,
  )
}

export type RecipientEvent = { message_id: string; type: string; at: Date; data: Record<string, unknown> }

const Event = row<RecipientEvent>({ message_id: text, type: text, at: time, data: json() })

const mostEvents = 100

/** The first of each message; a robot may have made thousands. */
export function listRecipientEvents(db: Db, accountId: string, messageIds: string[]) {
  return db.many(
    Event,
    sql`
    select e.message_id, e.type, e.at, e.data
      from unnest(${messageIds}::uuid[]) as m (id)
     cross join lateral (
           select message_id, type, at, data
             from message_events
            where account_id = ${accountId}
              and message_id = m.id
              and type in ('open', 'click', 'bounce', 'unsubscribe')
            order by id
            limit ${mostEvents}) e`,
  )
}
