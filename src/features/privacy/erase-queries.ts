// Everything about one person, table by table. Called in one transaction, which ends with the address as a hash.
import type { Db } from '../../kernel/db.ts'
import { sql } from '../../kernel/sql.ts'

export type Person = {
  accountId: string
  email: string
  /** The address as a regular expression, for texts that it stands in. */
  pattern: string
}

const contactId = ({ accountId, email }: Person) =>
  sql`(select id from contacts where account_id = ${accountId} and email = ${email})`
const messageIds = ({ accountId, email }: Person) =>
  sql`(select id from messages where account_id = ${accountId} and recipient = ${email})`

/** Waits for what is being recorded about them; what comes later finds no message. */
export function lockMessages(db: Db, { accountId, email }: Person) {
  return db.run(sql`
    select 1 from messages where account_id = ${accountId} and recipient = ${email} order by id for update`)
}

export function eraseHistory(db: Db, who: Person) {
  return db.run(
    sql`delete from contact_history where account_id = ${who.accountId} and contact_id = ${contactId(who)}`,
  )
}

export function eraseConsents(db: Db, who: Person) {
  return db.run(
    sql`delete from consents where account_id = ${who.accountId} and contact_id = ${contactId(who)}`,
  )
}

export function eraseMemberships(db: Db, who: Person) {
  return db.run(
    sql`delete from list_members where account_id = ${who.accountId} and contact_id = ${contactId(who)}`,
  )
}

export function eraseLeftLists(db: Db, who: Person) {
  return db.run(
    sql`delete from list_unsubscriptions where account_id = ${who.accountId} and contact_id = ${contactId(who)}`,
  )
}

export function eraseCustomEvents(db: Db, who: Person) {
  return db.run(
    sql`delete from custom_events where account_id = ${who.accountId} and contact_id = ${contactId(who)}`,
  )
}

/** Waits for a step that is just being queued, whose message is then found with the others. */
export function eraseRuns(db: Db, who: Person) {
  return db.run(sql`
    delete from automation_runs
     where account_id = ${who.accountId}
       and (email = ${who.email} or contact_id = ${contactId(who)})`)
}

export function eraseContactRow(db: Db, { accountId, email }: Person) {
  return db.run(sql`delete from contacts where account_id = ${accountId} and email = ${email}`)
}

export function eraseEvents(db: Db, who: Person) {
  return db.run(sql`
    delete from message_events where account_id = ${who.accountId} and message_id in ${messageIds(who)}`)
}

export function eraseAttachments(db: Db, who: Person) {
  return db.run(sql`
    delete from message_attachments where account_id = ${who.accountId} and message_id in ${messageIds(who)}`)
}

export function eraseQueueRows(db: Db, who: Person) {
  return db.run(sql`
    delete from delivery_queue where account_id = ${who.accountId} and message_id in ${messageIds(who)}`)
}

/** A message to several names all of them in the copy of each. */
export function eraseFromCopies(db: Db, who: Person) {
  return db.run(sql`
    update message_bodies b
       set parts = regexp_replace(b.parts::text, ${who.pattern}, 'erased@erased.invalid', 'gi')::json
      from messages m
     where m.account_id = ${who.accountId}
       and m.message_id in (select message_id
                              from messages
                             where account_id = ${who.accountId} and recipient = ${who.email})
       and m.recipient <> ${who.email}
       and b.message_id = m.id
       and b.parts is not null`)
}

export function eraseBodies(db: Db, who: Person) {
  return db.run(sql`
    delete from message_bodies where account_id = ${who.accountId} and message_id in ${messageIds(who)}`)
}

export function eraseCaptured(db: Db, { accountId, email }: Person) {
  return db.run(sql`delete from captured_messages where account_id = ${accountId} and recipient = ${email}`)
}

export function eraseMessages(db: Db, { accountId, email }: Person) {
  return db.run(sql`delete from messages where account_id = ${accountId} and recipient = ${email}`)
}

export function eraseSoftBounces(db: Db, { accountId, email }: Person) {
  return db.run(sql`delete from soft_bounces where account_id = ${accountId} and email = ${email}`)
}

export function eraseFromActionLog(db: Db, { accountId, pattern }: Person) {
  return db.run(sql`
    update audit_lines
       set params = regexp_replace(params::text, ${pattern}, '[erased]', 'gi')::jsonb
     where account_id = ${accountId}
       and params::text ~* ${pattern}`)
}

export function eraseReplies(db: Db, { accountId, pattern }: Person) {
  return db.run(sql`
    delete from idempotency_keys where account_id = ${accountId} and reply ~* ${pattern}`)
}

export function eraseFromImports(db: Db, { accountId, pattern }: Person) {
  return db.run(sql`
    update processes
       set faulty_rows = regexp_replace(faulty_rows::text, ${pattern}, '[erased]', 'gi')::jsonb
     where account_id = ${accountId}
       and faulty_rows::text ~* ${pattern}`)
}

/** What is not worked off yet: the row is then faulty, having no address. */
export function eraseFromChunks(db: Db, { accountId, pattern }: Person) {
  return db.run(sql`
    update process_chunks
       set rows = regexp_replace(rows::text, ${pattern}, '[erased]', 'gi')::json
     where account_id = ${accountId}
       and rows::text ~* ${pattern}`)
}

export function eraseUnsuppression(db: Db, { email }: Person) {
  return db.run(sql`delete from upstream_unsuppressions where email = ${email}`)
}

/** The address gives way to its hash; why it was suppressed stays. */
export async function keepHash(db: Db, { accountId, email }: Person, made: { id: string; at: Date }) {
  const replaced = await db.run(sql`
    update suppressions
       set email = erased_name(${email}), message_id = null, source = 'erasure'
     where account_id = ${accountId}
       and email = ${email}
       and not exists (select 1
                         from suppressions
                        where account_id = ${accountId} and email = erased_name(${email}))`)
  await db.run(sql`delete from suppressions where account_id = ${accountId} and email = ${email}`)
  await db.run(sql`
    insert into suppressions (account_id, email, reason, source, created_at, id)
    values (${accountId}, erased_name(${email}), 'manual', 'erasure', ${made.at}, ${made.id})
    on conflict (account_id, email) do nothing`)
  return replaced
}
