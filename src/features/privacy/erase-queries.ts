// Everything about one person, table by table. Called in one transaction, which ends with the address as a hash.
// Where a text is searched for the addresses, the plain search comes before the pattern, which takes far longer.
import type { Db } from '../../kernel/db.ts'
import { type Sql, sql } from '../../kernel/sql.ts'
import { isRef } from '../contacts/contacts/queries.ts'
import { contactId } from './export-queries.ts'
import type { Person } from './person.ts'

const messageIds = ({ accountId, emails }: Person) =>
  sql`(select id from messages where account_id = ${accountId} and recipient = any(${emails}::text[]))`

/** In a case, because the planner may ask what is joined by "and" in any order. */
export const isAbout = (written: Sql, { likes, pattern }: Pick<Person, 'likes' | 'pattern'>) =>
  sql`case when lower(${written}) like any(${likes}::text[]) then ${written} ~* ${pattern} else false end`

/** The addresses and the telephone numbers. */
export const namesOf = ({ emails, phones }: Pick<Person, 'emails' | 'phones'>) => [...emails, ...phones]

/** Waits for what is being recorded about them; what comes later finds no message. */
export function lockMessages(db: Db, { accountId, emails }: Person) {
  return db.run(sql`
    select 1
      from messages
     where account_id = ${accountId} and recipient = any(${emails}::text[])
     order by id
       for update`)
}

/** Waits for the rows of imports that are just being worked off: what they leave is then found with the rest. */
export function holdImports(db: Db, accountId: string) {
  return db.run(sql`
    select 1
      from processes
     where account_id = ${accountId} and status in ('queued', 'processing') and name = 'IMPORTUSER'
     order by id
       for update`)
}

/** Their own, and of other contacts that they had one of the addresses or numbers. */
export async function eraseHistory(db: Db, who: Person): Promise<number> {
  const { accountId, emails, phones } = who
  const own = await db.run(
    sql`delete from contact_history where account_id = ${accountId} and contact_id = ${contactId(who)}`,
  )
  const addresses = await eraseFormer(db, accountId, { attribute: sql`'EMAIL'`, values: emails })
  return own + addresses + (await eraseFormer(db, accountId, { attribute: sql`'SMS'`, values: phones }))
}

/** The attribute as a literal, which the indexes of former addresses and numbers are found by. */
async function eraseFormer(
  db: Db,
  accountId: string,
  { attribute, values }: { attribute: Sql; values: string[] },
): Promise<number> {
  if (values.length === 0) return 0
  const theirs = sql`
    (select to_jsonb(v) from unnest(${values}::text[]) as v)`
  return db.run(sql`
    update contact_history
       set old_value = case when old_value in ${theirs} then null else old_value end,
           new_value = case when new_value in ${theirs} then null else new_value end
     where account_id = ${accountId}
       and attribute = ${attribute}
       and contact_id = any(array(select contact_id
                                    from contact_history
                                   where account_id = ${accountId}
                                     and attribute = ${attribute}
                                     and old_value = any(array${theirs})))
       and (old_value in ${theirs} or new_value in ${theirs})`)
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

export async function eraseLeftLists(db: Db, who: Person): Promise<number> {
  const own = await db.run(
    sql`delete from list_unsubscriptions where account_id = ${who.accountId} and contact_id = ${contactId(who)}`,
  )
  const kept = await db.run(
    sql`delete from kept_leavings where account_id = ${who.accountId} and email = any(${who.emails}::text[])`,
  )
  return own + kept
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
       and (email = any(${who.emails}::text[]) or contact_id = ${contactId(who)})`)
}

export function eraseContactRow(db: Db, { accountId, ref }: Person) {
  return db.run(sql`delete from contacts c where c.account_id = ${accountId} and ${isRef(ref)}`)
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

export function eraseBodies(db: Db, who: Person) {
  return db.run(sql`
    delete from message_bodies where account_id = ${who.accountId} and message_id in ${messageIds(who)}`)
}

export function eraseCaptured(db: Db, { accountId, emails }: Person) {
  return db.run(sql`
    delete from captured_messages where account_id = ${accountId} and recipient = any(${emails}::text[])`)
}

export function eraseMessages(db: Db, { accountId, emails }: Person) {
  return db.run(sql`
    delete from messages where account_id = ${accountId} and recipient = any(${emails}::text[])`)
}

export function eraseSoftBounces(db: Db, { accountId, emails }: Person) {
  return db.run(sql`
    delete from soft_bounces where account_id = ${accountId} and email = any(${emails}::text[])`)
}

export function eraseBlockedSenders(db: Db, { accountId, emails }: Person) {
  return db.run(sql`
    delete from blocked_senders
     where account_id = ${accountId}
       and (email = any(${emails}::text[]) or sender = any(${emails}::text[]))`)
}

/** What was spent stays in the sums, and an identifier keeps it from being counted again. */
export function eraseFromConversions(db: Db, { accountId, emails, pattern }: Person) {
  return db.run(sql`
    update conversions
       set email = null, external_id = case when external_id ~* ${pattern} then null else external_id end
     where account_id = ${accountId}
       and email = any(${emails}::text[])`)
}

/** After the contact, whose deletion may have been queued a moment ago. */
export function eraseQueuedWebhooks(db: Db, who: Person) {
  return db.run(sql`
    delete from webhook_queue
     where account_id = ${who.accountId}
       and (email = any(${namesOf(who)}::text[]) or message_id = any(array${messageIds(who)}))`)
}

export function eraseWebhooks(db: Db, who: Person) {
  return db.run(sql`
    delete from webhook_deliveries
     where account_id = ${who.accountId}
       and (email = any(${namesOf(who)}::text[]) or message_id = any(array${messageIds(who)}))`)
}

export function eraseOptins(db: Db, { accountId, emails }: Person) {
  return db.run(sql`
    delete from double_optins where account_id = ${accountId} and email = any(${emails}::text[])`)
}

/** Also one that the account sends from: whoever erases it says that it is a person's. */
export function eraseSenders(db: Db, { accountId, emails }: Person) {
  return db.run(sql`
    delete from senders where account_id = ${accountId} and lower(email) = any(${emails}::text[])`)
}

export function eraseReplies(db: Db, who: Person) {
  return db.run(sql`
    delete from idempotency_keys where account_id = ${who.accountId} and ${isAbout(sql`reply`, who)}`)
}

export function eraseFromImports(db: Db, { accountId, pattern }: Person) {
  return db.run(sql`
    update processes
       set faulty_rows = regexp_replace(faulty_rows::text, ${pattern}, '[erased]', 'gi')::jsonb
     where account_id = ${accountId}
       and faulty_rows::text ~* ${pattern}`)
}

/** What is not worked off yet: the row is then faulty, having no address. */
export function eraseFromChunks(db: Db, who: Person) {
  return db.run(sql`
    update process_chunks
       set rows = regexp_replace(rows::text, ${who.pattern}, '[erased]', 'gi')::json
     where account_id = ${who.accountId}
       and ${isAbout(sql`rows::text`, who)}`)
}

export function eraseUnsuppression(db: Db, { emails }: Person) {
  return db.run(sql`delete from upstream_unsuppressions where email = any(${emails}::text[])`)
}

type Made = { newId: () => string; at: Date }

/** Each address gives way to its hash; why it was suppressed stays. */
export async function keepHashes(db: Db, { accountId, emails }: Person, { newId, at }: Made) {
  const replaced = await db.run(sql`
    update suppressions s
       set email = erased_name(s.email), message_id = null, source = 'erasure'
     where account_id = ${accountId}
       and email = any(${emails}::text[])
       and not exists (select 1
                         from suppressions e
                        where e.account_id = ${accountId} and e.email = erased_name(s.email))`)
  await db.run(
    sql`delete from suppressions where account_id = ${accountId} and email = any(${emails}::text[])`,
  )
  await db.run(sql`
    insert into suppressions (account_id, email, reason, source, created_at, id)
    select ${accountId}, erased_name(n.email), 'manual', 'erasure', ${at}, n.id
      from unnest(${emails}::text[], ${emails.map(newId)}::uuid[]) as n (email, id)
    on conflict (account_id, email) do nothing`)
  return replaced
}
