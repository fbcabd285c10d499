import type { Db } from '../../kernel/db.ts'
import { bool, json, maybe, row, text, time } from '../../kernel/row.ts'
import { sql, when } from '../../kernel/sql.ts'
import type { Reason } from './suppressions.ts'

export type SuppressionRow = {
  id: string
  email: string
  reason: string
  source: string
  message_id: string | null
  created_at: Date
}

const Suppression = row<SuppressionRow>({
  id: text,
  email: text,
  reason: text,
  source: text,
  message_id: maybe(text),
  created_at: time,
})

type Filter = { reason?: string; email?: string; since?: Date; after?: string; limit: number }

export function listSuppressions(db: Db, accountId: string, filter: Filter) {
  return db.many(
    Suppression,
    sql`
    select id, email, reason, source, message_id, created_at
      from suppressions
     where account_id = ${accountId}
       ${when(filter.email, (email) => sql`and email in (${email}, erased_name(${email}))`)}
       ${when(filter.reason, (reason) => sql`and reason = ${reason}`)}
       ${when(filter.since, (since) => sql`and created_at >= ${since}`)}
       ${when(filter.after, (after) => sql`and id < ${after}`)}
     order by id desc
     limit ${filter.limit}`,
  )
}

/** With the sender, in lower case, where it matters which one writes. */
export type SuppressionRef = { accountId: string; email: string; sender?: string }

export const nameOfRef = ({ accountId, email, sender }: SuppressionRef) =>
  `${accountId} ${email} ${sender ?? ''}`

export type Suppressed = {
  account_id: string
  email: string
  /** As it was asked. */
  sender: string | null
  reason: string
  /** What was said besides. */
  beside: 'manual' | 'unsubscribe' | null
  is_erased: boolean
}

const Ref = row<Suppressed>({
  account_id: text,
  email: text,
  sender: maybe(text),
  reason: text,
  beside: json(),
  is_erased: bool,
})

/** As reasons: the address is blocked for this sender alone, or with its whole domain. */
export const blockedSender = 'blocked_sender'
export const blockedDomain = 'blocked_domain'

/** Where customers say of somebody that they are not to be written to; of a contact they are then unsubscribed. */
const ofContacts = ['contact', 'import']
const manualSources = [...ofContacts, 'api', 'erasure']

/** What left_source, the source of what stands beside the reason, is a source of. */
export const reasonBeside = sql`
  (case when left_source = any(${manualSources}::text[]) then 'manual' else 'unsubscribe' end)`

/**
 * Of many addresses of many accounts, those not to be written to: of erased people (`erased`) and blocked domains
 * (`blocked_domain`) as well.
 */
export function findSuppressed(db: Db, refs: SuppressionRef[]) {
  return db.many(
    Ref,
    sql`
    with ${askedFor(refs)}
    select r.account_id, r.email, r.sender, ${blockedSender}::text as reason, null::json as beside,
           false as is_erased
      from asked r
      join blocked_senders b on b.account_id = r.account_id and b.email = r.email and b.sender = r.sender
    union all
    select r.account_id, r.email, r.sender,
           case when s.email = r.email then s.reason else 'erased' end,
           to_json(case when s.left_source is not null then ${reasonBeside} end), s.email <> r.email
      from asked r
     cross join lateral (values (r.email), (r.erased)) as n (name)
      -- By its name first: of a few hundred in an account, all would be held against each name.
      join suppressions s on (s.account_id = r.account_id) is true and s.email = n.name
    union all
    select r.account_id, r.email, r.sender, ${blockedDomain}::text, null, false
      from asked r
      join blocked_domains d on d.account_id = r.account_id and d.domain = split_part(r.email, '@', -1)`,
  )
}

// Equal or not, never one of two: then the planner knows the key that finds it. Each erased name is made once. The
// arrays are looked up, as it were: of ones that it sees, the planner counts the elements, and where they are few it
// makes a plan for each execution, which costs three times what it carries out.
function askedFor(refs: SuppressionRef[]) {
  const [accounts, emails] = [refs.map(({ accountId }) => accountId), refs.map(({ email }) => email)]
  const senders = refs.map(({ sender }) => sender ?? null)
  return sql`
    asked as materialized (
      select r.account_id, r.email, r.sender,
             erased_name(r.email, (select address_key from installation)) as erased
        from unnest((select ${accounts}::bigint[]), (select ${emails}::text[]), (select ${senders}::text[]))
             as r (account_id, email, sender))`
}

/** Nothing but the word of the person, which is theirs to take back. */
export const isOwnWord = ({ reason, beside }: Pick<Suppressed, 'reason' | 'beside'>) =>
  reason === 'unsubscribe' && beside !== 'manual'

/** The same of s, as a condition. */
export const isOwnWordOf = sql`
  (s.reason = 'unsubscribe' and (s.left_source is null or ${reasonBeside} = 'unsubscribe'))`

export const nameOfFound = ({ account_id, email, sender }: Suppressed) =>
  nameOfRef({ accountId: account_id, email, sender: sender ?? undefined })

/** For addresses that were free a moment ago: ends the transaction, to be run again, when one no longer is. */
export function assumeNotSuppressed(db: Db, refs: SuppressionRef[]) {
  return db.runLast(sql`
    with ${askedFor(refs)}
    select assumption_failed()
      from asked r
     where exists (select 1 from suppressions s where s.account_id = r.account_id and s.email = r.email)
        or exists (select 1 from suppressions s where s.account_id = r.account_id and s.email = r.erased)
        or exists (select 1
                     from blocked_domains d
                    where d.account_id = r.account_id and d.domain = split_part(r.email, '@', -1))
        or exists (select 1
                     from blocked_senders b
                    where b.account_id = r.account_id and b.email = r.email and b.sender = r.sender)`)
}

/**
 * Whether one may be written to is part of a contact, for those who ask which changed since when. Before the
 * suppressions themselves: who writes both begins with the contact. One that was changed in the same act is left.
 */
export function touchUnsuppressed(db: Db, refs: SuppressionRef[], at: Date) {
  const [accounts, emails] = [refs.map(({ accountId }) => accountId), refs.map(({ email }) => email)]
  return db.run(sql`
    update contacts c
       set modified_at = greatest(c.modified_at, clock_timestamp())
      from (select *
              from unnest(${accounts}::bigint[], ${emails}::text[]) as n (account_id, email)
            offset 0) r
     where c.account_id = r.account_id
       and c.email = r.email
       and c.modified_at <> ${at}
       and not exists (select 1 from suppressions s where s.account_id = r.account_id and s.email = r.email)`)
}

/** The same, before one of these reasons is lifted. */
export function touchSuppressed(db: Db, { accountId, email }: SuppressionRef, of: readonly Reason[]) {
  return db.run(sql`
    update contacts
       set modified_at = greatest(modified_at, clock_timestamp())
     where account_id = ${accountId}
       and email = ${email}
       and exists (select 1
                     from suppressions s
                    where s.account_id = ${accountId} and s.email = ${email} and s.reason = any(${of}::text[]))`)
}

const isBlacklisting = sql`
  (s.left_source = any(${ofContacts}::text[])
   or (s.reason = 'manual' and s.source = any(${ofContacts}::text[])))`

/** Of s: its person left, or their contact was blacklisted. */
export const isUnsubscription = sql`
  (s.reason = 'unsubscribe'
   or (s.left_source is not null and ${reasonBeside} = 'unsubscribe')
   or ${isBlacklisting})`

const Why = row<{ reason: string }>({ reason: text })

export function findUnsubscription(db: Db, { accountId, email }: SuppressionRef) {
  return db.maybe(
    Why,
    sql`
    select case when ${isBlacklisting} then 'manual' else 'unsubscribe' end as reason
      from suppressions s
     where s.account_id = ${accountId} and s.email = ${email} and ${isUnsubscription}`,
  )
}

export async function isUnsubscribed(db: Db, { accountId, email }: SuppressionRef): Promise<boolean> {
  const found = await db.run(sql`
    select 1 from contacts where account_id = ${accountId} and email = ${email} and status = 'unsubscribed'`)
  return found > 0
}

/** Of one source only, where it is given. What stands beside and is not of these comes in its place. */
export async function deleteSuppression(
  db: Db,
  { accountId, email }: SuppressionRef,
  of: readonly Reason[],
  source?: string,
): Promise<number> {
  const ofThese = sql`email = ${email} and reason = any(${of}::text[])
                  ${when(source, (one) => sql`and source = ${one}`)}`
  await db.run(sql`
    update suppressions
       set left_source = null
     where account_id = ${accountId} and email = ${email} and left_source is not null
       and ${reasonBeside} = any(${of}::text[])
       ${when(source, (one) => sql`and left_source = ${one}`)}`)
  await db.run(sql`
    update suppressions
       set reason = ${reasonBeside}, source = left_source, left_source = null
     where account_id = ${accountId} and ${ofThese} and left_source is not null`)
  return db.run(sql`delete from suppressions where account_id = ${accountId} and ${ofThese}`)
}

const Said = row<Origin>({ reason: json(), source: text })

export function findOrigin(db: Db, { accountId, email }: SuppressionRef) {
  return db.maybe(
    Said,
    sql`select reason, source from suppressions where account_id = ${accountId} and email = ${email}`,
  )
}

type Origin = { reason: Reason; source: string }

/** Those of this origin get another source. */
export function takeOver(db: Db, refs: SuppressionRef[], from: Origin, to: string) {
  const [accounts, emails] = [refs.map(({ accountId }) => accountId), refs.map(({ email }) => email)]
  return db.run(sql`
    update suppressions s
       set source = ${to}
      from (select *
              from unnest(${accounts}::bigint[], ${emails}::text[]) as n (account_id, email)
            offset 0) r
     where s.account_id = r.account_id
       and s.email = r.email
       and s.reason = ${from.reason}
       and s.source = ${from.source}`)
}

type Lifted = { email?: string; since?: Date; until?: Date; of: readonly string[] }

/** Upstream too. What stands beside it stays on the list, and so does an erased person, whatever their address did. */
export function liftSuppressions(db: Db, accountId: string, { email, since, until, of }: Lifted) {
  const wanted = sql`
             account_id = ${accountId}
         and reason = any(${of}::text[])
         and email not like 'erased:%'
         ${when(email, (one) => sql`and email = ${one}`)}
         ${when(since, (at) => sql`and created_at >= ${at}`)}
         ${when(until, (at) => sql`and created_at < ${at}`)}`
  return db.run(sql`
    with freed as (
      delete from suppressions
       where ${wanted} and left_source is null
      returning email),
    kept as (
      update suppressions
         set reason = ${reasonBeside}, source = left_source, left_source = null
       where ${wanted} and left_source is not null
      returning email),
    lifted as (
      select email from freed union all select email from kept),
    touched as (
      update contacts c
         set modified_at = greatest(c.modified_at, clock_timestamp())
        from lifted l
       where c.account_id = ${accountId} and c.email = l.email)
    insert into upstream_unsuppressions (email, due_at)
    select email, clock_timestamp() from lifted order by email
    on conflict (email) do update set due_at = excluded.due_at, attempts = 0`)
}
