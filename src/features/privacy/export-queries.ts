import type { Db } from '../../kernel/db.ts'
import { json, maybe, row, text } from '../../kernel/row.ts'
import { sql, when } from '../../kernel/sql.ts'
import type { LinePage } from './erase-queries.ts'

const Rows = row<{ rows: Record<string, unknown>[] }>({ rows: json() })

type Who = { accountId: string; email: string; pattern: string; phone: string | null }

const contactId = ({ accountId, email }: Who) =>
  sql`(select id from contacts where account_id = ${accountId} and email = ${email})`

export function exportContact(db: Db, { accountId, email }: Who) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(c) - 'account_id'), '[]') as rows
      from contacts c
     where account_id = ${accountId} and email = ${email}`,
  )
}

export function exportHistory(db: Db, who: Who) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(h) - 'account_id' - 'id' order by h.id), '[]') as rows
      from contact_history h
     where account_id = ${who.accountId} and contact_id = ${contactId(who)}`,
  )
}

export function exportConsents(db: Db, who: Who) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(c) - 'account_id' - 'key_id' - 'id' order by c.id), '[]') as rows
      from consents c
     where account_id = ${who.accountId} and contact_id = ${contactId(who)}`,
  )
}

export function exportLists(db: Db, who: Who) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(jsonb_build_object('id', l.id, 'name', l.name, 'added_at', m.added_at)), '[]') as rows
      from list_members m
      join lists l on l.account_id = m.account_id and l.id = m.list_id
     where m.account_id = ${who.accountId} and m.contact_id = ${contactId(who)}`,
  )
}

export function exportLeftLists(db: Db, who: Who) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(jsonb_build_object('id', l.id, 'name', l.name, 'left_at', u.at)), '[]') as rows
      from list_unsubscriptions u
      join lists l on l.account_id = u.account_id and l.id = u.list_id
     where u.account_id = ${who.accountId} and u.contact_id = ${contactId(who)}`,
  )
}

/** With their contents and events; attachments by name and size. */
export function exportMessages(db: Db, { accountId, email }: Who) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(m) - 'account_id' - 'key_id' || jsonb_build_object(
             'content', coalesce(b.parts::jsonb, to_jsonb(encode(b.raw, 'base64'))),
             'events', (select coalesce(jsonb_agg(to_jsonb(e) - 'account_id' - 'message_id' order by e.at, e.id), '[]')
                          from message_events e
                         where e.account_id = m.account_id and e.message_id = m.id),
             'attachments', (select coalesce(jsonb_agg(jsonb_build_object('filename', a.filename, 'bytes',
                                      length(a.content)) order by a.position), '[]')
                               from message_attachments a
                              where a.message_id = m.id)) order by m.id), '[]') as rows
      from messages m
      left join message_bodies b on b.message_id = m.id
     where m.account_id = ${accountId} and m.recipient = ${email}`,
  )
}

export function exportSuppression(db: Db, { accountId, email }: Who) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(s) - 'account_id' - 'id' - 'email'), '[]') as rows
      from suppressions s
     where account_id = ${accountId} and email in (${email}, erased_name(${email}))`,
  )
}

export function exportSoftBounces(db: Db, { accountId, email }: Who) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(s) - 'account_id' - 'email'), '[]') as rows
      from soft_bounces s
     where account_id = ${accountId} and email = ${email}`,
  )
}

export function exportBlockedSenders(db: Db, { accountId, email }: Who) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(json_build_object('sender', sender, 'created_at', created_at) order by id), '[]') as rows
      from blocked_senders
     where account_id = ${accountId} and email = ${email}`,
  )
}

export function exportConversions(db: Db, { accountId, email }: Who) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(c) - 'account_id' - 'email' order by c.id), '[]') as rows
      from conversions c
     where account_id = ${accountId} and email = ${email}`,
  )
}

export function exportOptins(db: Db, { accountId, email }: Who) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(o) - 'account_id' - 'key_id' - 'id' order by o.created_at), '[]') as rows
      from double_optins o
     where account_id = ${accountId} and email = ${email}`,
  )
}

export function exportSenders(db: Db, { accountId, email }: Who) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(s) - 'account_id' - 'code_hash' - 'tries_left' order by s.id), '[]') as rows
      from senders s
     where account_id = ${accountId} and lower(email) = ${email}`,
  )
}

const Lines = row<{ last: string | null; rows: Record<string, unknown>[] }>({
  last: maybe(text),
  rows: json(),
})

/** Of the next so many lines of the log those that name the person; `last` is where to go on, null at the end. */
export function exportLines(db: Db, { accountId, email, pattern }: Who, page: LinePage) {
  return db.one(
    Lines,
    sql`
    with page as materialized (
      select id, at, operation, params
        from audit_lines
       where account_id = ${accountId}
         ${when(page.after, (after) => sql`and id > ${after}`)}
       order by id
       limit ${page.limit})
    select (select id from page order by id offset ${page.limit - 1}) as last,
           (select coalesce(json_agg(jsonb_build_object('at', l.at, 'operation', l.operation, 'params', l.params)
                                     order by l.id), '[]')
              from page l
             where strpos(lower(l.params::text), ${email}) > 0 and l.params::text ~* ${pattern}) as rows`,
  )
}

export function exportCustomEvents(db: Db, who: Who) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(e) - 'account_id' order by e.id), '[]') as rows
      from custom_events e
     where account_id = ${who.accountId} and contact_id = ${contactId(who)}`,
  )
}

export function exportRuns(db: Db, who: Who) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(r) - 'account_id' - 'key_id' order by r.id), '[]') as rows
      from automation_runs r
     where account_id = ${who.accountId}
       and (email = ${who.email} or contact_id = ${contactId(who)})`,
  )
}

/** What was told of them to others, and what is about to be. */
export function exportWebhooks(db: Db, { accountId, email, phone }: Who) {
  const about = sql`
    (email in (${email}, ${phone})
     or message_id = any(array(select id from messages where account_id = ${accountId} and recipient = ${email})))`
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(d) order by d.id), '[]') as rows
      from (select id, webhook_id, event, message_id, email, data, attempts, created_at, attempted_at, answer
              from webhook_queue
             where account_id = ${accountId} and ${about}
            union all
            select id, webhook_id, event, message_id, email, data, attempts, created_at, attempted_at, answer
              from webhook_deliveries
             where account_id = ${accountId} and ${about}) d`,
  )
}
