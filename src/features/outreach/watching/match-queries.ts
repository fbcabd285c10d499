import type { Db } from '../../../kernel/db.ts'
import { maybe, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'

export type ThreadRow = {
  sequence_id: string | null
  prospect_id: string | null
  mailbox_id: string
  message_id: string
  recipient: string
  subject: string
}

const Thread = row<ThreadRow>({
  sequence_id: maybe(text),
  prospect_id: maybe(text),
  mailbox_id: text,
  message_id: text,
  recipient: text,
  subject: text,
})

type Wanted = { accountId: string; mailboxId: string; since: Date }

/** The last message that this mailbox wrote to one of the addresses; what went to the sandbox reached nobody. */
export function findByRecipient(db: Db, { accountId, mailboxId, since }: Wanted, email: string) {
  return db.maybe(
    Thread,
    sql`
    select sequence_id, prospect_id, mailbox_id, message_id, recipient, subject
      from outreach_messages
     where account_id = ${accountId}
       and recipient = ${email}
       and mailbox_id = ${mailboxId}
       and step is not null
       and mode = 'live'
       and created_at >= ${since}
       and state in ('sent', 'unconfirmed', 'handing', 'bounced')
     order by id desc
     limit 1`,
  )
}

/** What this mailbox wrote to people of a domain, the last first. */
export function findByDomain(db: Db, { accountId, mailboxId, since }: Wanted, domain: string) {
  return db.many(
    Thread,
    sql`
    select sequence_id, prospect_id, mailbox_id, message_id, recipient, subject
      from outreach_messages
     where account_id = ${accountId}
       and mailbox_id = ${mailboxId}
       and created_at >= ${since}
       and right(recipient, ${domain.length + 1}) = ${`@${domain}`}
       and step is not null
       and mode = 'live'
       and state in ('sent', 'unconfirmed', 'handing', 'bounced')
     order by id desc
     limit 50`,
  )
}

const Owner = row<{ id: string; email: string }>({ id: text, email: text })

/** The mailboxes that are read from the same inbox, this one among them: several addresses of one person. */
export function findInboxOwners(db: Db, { accountId, mailboxId }: Omit<Wanted, 'since'>) {
  return db.many(
    Owner,
    sql`
    select m.id, m.email
      from outreach_mailboxes o
      join outreach_mailboxes m
        on m.account_id = o.account_id
       and lower(m.imap ->> 'host') = lower(o.imap ->> 'host')
       and m.imap ->> 'user' = o.imap ->> 'user'
     where o.account_id = ${accountId} and o.id = ${mailboxId}`,
  )
}
