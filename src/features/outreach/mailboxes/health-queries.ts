import type { Db } from '../../../kernel/db.ts'
import { int, row, text } from '../../../kernel/row.ts'
import { sql, when } from '../../../kernel/sql.ts'

export type MailboxRef = { accountId: string; mailboxId: string }

const Paused = row<{ email: string }>({ email: text })

type Pause = { reason: string; error: string; at: Date; sealed?: Buffer }

/** Nothing when it is paused already, or is opened by something else by now than what was `sealed`. */
export function markPaused(db: Db, ref: MailboxRef, why: Pause) {
  return db.maybe(
    Paused,
    sql`
    update outreach_mailboxes
       set state = 'paused', paused_reason = ${why.reason}, smtp_error = ${why.error}, modified_at = ${why.at}
     where account_id = ${ref.accountId} and id = ${ref.mailboxId} and state = 'active'
       ${when(why.sealed, (sealed) => sql`and sealed = ${sealed}`)}
    returning email`,
  )
}

export function noteSmtp(db: Db, ref: MailboxRef, error: string | null) {
  return db.run(sql`
    update outreach_mailboxes
       set smtp_error = ${error}::text,
           smtp_failures = case when ${error}::text is null then 0 else smtp_failures + 1 end
     where account_id = ${ref.accountId} and id = ${ref.mailboxId}
       and (${error}::text is not null or smtp_error is not null)`)
}

/** One more of the messages of that day came back. */
export function countBounce(db: Db, ref: MailboxRef, day: string) {
  return db.run(sql`
    insert into outreach_mailbox_days as d (account_id, mailbox_id, day, bounced)
    select m.account_id, m.id, ${day}, 1
      from outreach_mailboxes m
     where m.account_id = ${ref.accountId} and m.id = ${ref.mailboxId}
    on conflict (account_id, mailbox_id, day) do update set bounced = d.bounced + 1`)
}

/** Somebody took one of its messages for abuse. */
export function countComplaint(db: Db, ref: MailboxRef, day: string) {
  return db.run(sql`
    insert into outreach_mailbox_days as d (account_id, mailbox_id, day, complained)
    select m.account_id, m.id, ${day}, 1
      from outreach_mailboxes m
     where m.account_id = ${ref.accountId} and m.id = ${ref.mailboxId}
    on conflict (account_id, mailbox_id, day) do update set complained = d.complained + 1`)
}

/** A person's answer left: it takes a place of the day, but is never kept from leaving by it. */
export function countAnswer(db: Db, ref: MailboxRef, day: string) {
  return db.run(sql`
    insert into outreach_mailbox_days as d (account_id, mailbox_id, day, answered)
    select m.account_id, m.id, ${day}, 1
      from outreach_mailboxes m
     where m.account_id = ${ref.accountId} and m.id = ${ref.mailboxId}
    on conflict (account_id, mailbox_id, day) do update set answered = d.answered + 1`)
}

type Sums = { sent: number; bounced: number; complained: number }

const Rate = row<Sums>({ sent: int, bounced: int, complained: int })

export function sumDays(db: Db, ref: MailboxRef, since: string) {
  return db.one(
    Rate,
    sql`
    select coalesce(sum(sent + refused), 0)::int as sent, coalesce(sum(bounced), 0)::int as bounced,
           coalesce(sum(complained), 0)::int as complained
      from outreach_mailbox_days
     where account_id = ${ref.accountId} and mailbox_id = ${ref.mailboxId} and day > ${since}::date`,
  )
}
