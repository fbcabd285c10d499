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
  mailbox_email: string
  mailbox_name: string
  smtp: ServerSettings
  sealed: Buffer
  company_name: string | null
  postal_address: string | null
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
  mailbox_email: text,
  mailbox_name: text,
  smtp: json(),
  sealed: bytes,
  company_name: maybe(text),
  postal_address: maybe(text),
})

/** Answers that people wrote and that wait, of mailboxes that work. */
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
       where q.state = 'queued' and (q.leased_until is null or q.leased_until < ${now})
       order by q.id
       limit ${limit}
         for update of q skip locked)
    update outreach_messages q
       set state = 'handing', leased_until = ${leasedUntil}
      from taken t
      join outreach_mailboxes m on m.account_id = t.account_id
      left join outreach_identities i on i.account_id = t.account_id
     where q.account_id = t.account_id and q.id = t.id and m.id = q.mailbox_id
    returning q.account_id, q.id, q.mailbox_id, q.message_id, q.recipient, q.subject, q.text, q.html, q.refs,
              q.created_at, q.tries::int, m.email as mailbox_email, m.name as mailbox_name, m.smtp, m.sealed,
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
