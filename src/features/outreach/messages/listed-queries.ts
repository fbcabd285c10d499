// Messages of mailboxes as the list of all messages shows them.
import type { Db } from '../../../kernel/db.ts'
import { type Sql, sql, when } from '../../../kernel/sql.ts'
import type { Status } from '../../messages/model.ts'
import { EventShape, type ListFilter, MessageShape } from '../../messages/queries.ts'

const statesOf: Partial<Record<Status, string[]>> = {
  queued: ['queued', 'handing'],
  sent: ['sent', 'unconfirmed'],
  failed: ['failed', 'bounced'],
}

const columns = sql`
  id,
  case when state in ('queued', 'handing') then 'queued'
       when state in ('sent', 'unconfirmed') then 'sent'
       else 'failed' end as status,
  'outreach' as source, coalesce(sender, '') as sender, nullif(sender_name, '') as sender_name, recipient,
  null::text as recipient_name, subject, null::text as tag, null::jsonb as metadata, null::text as campaign_id,
  null::text as template_id, coalesce(final_message_id, message_id) as message_id, created_at,
  null::timestamptz as scheduled_at, sent_at, null::timestamptz as delivered_at,
  tries + case when state in ('queued', 'handing') then 0 else 1 end as attempts,
  case when error is not null then
    jsonb_build_object('code', coalesce(refused ->> 'class', case state when 'queued' then 'deferred' else state end),
                       'smtp_code', refused -> 'smtp_code', 'enhanced_code', refused -> 'enhanced_code',
                       'message', error) end as last_error,
  null::text as held_reason`

const withRefusal = sql`
  cross join lateral (select jsonb_path_query_first(events, '$[*] ? (@.type == "bounce").data') as refused) as bounce`

export async function listOutgoing(db: Db, accountId: string, filter: ListFilter) {
  const states = filter.status && (statesOf[filter.status] ?? [])
  // They have no tags.
  if (filter.tag !== undefined || states?.length === 0) return []
  const isOf = (all: string[]): Sql => sql`and state = any(${all}::text[])`
  return db.many(
    MessageShape,
    sql`
    select ${columns}
      from outreach_messages ${withRefusal}
     where account_id = ${accountId}
       ${when(states, isOf)}
       ${when(filter.to, (to) => sql`and recipient = ${to}`)}
       ${when(filter.after, (after) => sql`and id < ${after}`)}
     order by id desc
     limit ${filter.limit}`,
  )
}

export function findOutgoing(db: Db, accountId: string, id: string) {
  return db.maybe(
    MessageShape,
    sql`select ${columns} from outreach_messages ${withRefusal} where account_id = ${accountId} and id = ${id}`,
  )
}

export function listOutgoingEvents(db: Db, accountId: string, id: string) {
  return db.many(
    EventShape,
    sql`
    select e.id, e.type, e.at, e.data
      from outreach_messages m
     cross join lateral jsonb_to_recordset(m.events) as e (id uuid, type text, at timestamptz, data jsonb)
     where m.account_id = ${accountId} and m.id = ${id}
     order by e.at, e.id`,
  )
}
