import type { Db } from '../../../kernel/db.ts'
import { bytes, int, json, maybe, row, text, texts, time } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import type { ServerSettings } from '../mailboxes/credentials.ts'
import type { MessageRef } from './settle-queries.ts'

export type QueuedReply = {
  account_id: string
  id: string
  mailbox_id: string
  message_id: string
  recipient: string
  subject: string
  text: string
  html: string | null
  refs: string[]
  created_at: Date
  tries: number
  mode: 'live' | 'test'
  mailbox_email: string
  mailbox_name: string
  smtp: ServerSettings
  sealed: Buffer
  company_name: string
  postal_address: string
}

const Reply = row<QueuedReply>({
  account_id: text,
  id: text,
  mailbox_id: text,
  message_id: text,
  recipient: text,
  subject: text,
  text,
  html: maybe(text),
  refs: texts,
  created_at: time,
  tries: int,
  mode: text as never,
  mailbox_email: text,
  mailbox_name: text,
  smtp: json(),
  sealed: bytes,
  company_name: text,
  postal_address: text,
})

// Whoever asked to be left alone after the answer was written, or for whom they write, or an address that is dead.
const isUnwanted = sql`
  exists (select 1 from suppressions x
           where x.account_id = q.account_id and x.email in (q.recipient, erased_name(q.recipient)))
  or exists (select 1 from outreach_prospects p
               join suppressions x on x.account_id = p.account_id and x.email in (p.email, erased_name(p.email))
              where p.account_id = q.account_id and p.id = q.prospect_id
                and x.reason in ('unsubscribe', 'complaint'))`

export function failUnwanted(db: Db) {
  return db.run(sql`
    -- all accounts: one engine serves them all
    update outreach_messages q
       set state = 'failed', error = 'The recipient is on the suppression list by now.'
     where q.state = 'queued' and (${isUnwanted})`)
}

/** Answers of a mailbox that was deleted before they left: no other may write in its place. */
export function failHomeless(db: Db) {
  return db.run(sql`
    -- all accounts: one engine serves them all
    update outreach_messages q
       set state = 'failed', error = 'The mailbox that it was to leave from is deleted.'
     where q.state = 'queued'
       and not exists (select 1 from outreach_mailboxes m where m.account_id = q.account_id and m.id = q.mailbox_id)`)
}

/** Answers that people wrote and that wait, of mailboxes that work and accounts that say who they are. */
export function claimReplies(
  db: Db,
  now: Date,
  { leasedUntil, limit }: { leasedUntil: Date; limit: number },
) {
  return db.many(
    Reply,
    sql`
    -- all accounts: one engine serves them all
    with taken as (
      select q.account_id, q.id
        from outreach_messages q
        join outreach_mailboxes m on m.account_id = q.account_id and m.id = q.mailbox_id and m.state = 'active'
        join accounts a on a.id = q.account_id and a.outreach_enabled
        join outreach_identities i on i.account_id = q.account_id and i.company_name <> '' and i.postal_address <> ''
       where q.state = 'queued' and (q.leased_until is null or q.leased_until < ${now}) and not (${isUnwanted})
       order by q.id
       limit ${limit}
         for update of q skip locked)
    update outreach_messages q
       set state = 'handing', leased_until = ${leasedUntil}
      from taken t
      join outreach_mailboxes m on m.account_id = t.account_id
      join outreach_identities i on i.account_id = t.account_id
     where q.account_id = t.account_id and q.id = t.id and m.id = q.mailbox_id
    returning q.account_id, q.id, q.mailbox_id, q.message_id, q.recipient, q.subject, q.text, q.html, q.refs,
              q.created_at, q.tries::int, q.mode, m.email as mailbox_email, m.name as mailbox_name, m.smtp, m.sealed,
              i.company_name, i.postal_address`,
  )
}

export function replyLater(
  db: Db,
  { accountId, id }: MessageRef,
  { until, error }: { until: Date; error: string },
) {
  return db.run(sql`
    update outreach_messages
       set state = 'queued', leased_until = ${until}, tries = tries + 1, error = ${error}
     where account_id = ${accountId} and id = ${id} and state = 'handing'`)
}
