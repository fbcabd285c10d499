import type { Db } from '../../../kernel/db.ts'
import { maybe, row, text } from '../../../kernel/row.ts'
import { type Sql, sql } from '../../../kernel/sql.ts'

export const skipReasons = [
  'unknown',
  'already_enrolled',
  'refused',
  'erased',
  'unsubscribed',
  'suppressed',
] as const
export type SkipReason = (typeof skipReasons)[number]

const Judged = row<{ given: string; id: string | null; reason: SkipReason | null }>({
  given: text,
  id: maybe(text),
  reason: maybe(text) as never,
})

type Given = { accountId: string; sequenceId: string; ids: string[]; emails: string[]; at: Date }

/** `again`: also those who were stopped on the way. */
export type ToEnroll = Given & { again: boolean }

// Held until the end: one who is being deleted at this moment is not there.
function givenBy(accountId: string, ids: string[], emails: string[]): Sql {
  return sql`
    found as materialized (
      select p.id, p.email
        from outreach_prospects p
       where p.account_id = ${accountId}
         and (p.id = any(${ids}::bigint[]) or p.email = any(${emails}::text[]))
       order by p.id
         for key share),
    given as (
      select i.id::text as given, p.id, p.email
        from unnest(${ids}::bigint[]) as i (id)
        left join found p on p.id = i.id
       union all
      select g.email, p.id, p.email
        from unnest(${emails}::text[]) as g (email)
        left join found p on p.email = g.email)`
}

// Who said no is not asked again, however the rest of the sequence came to its end.
const mayComeBack = (again: boolean) => sql`
  (${again} and e.state = 'stopped' and e.handing_id is null and e.reason not in ('refused', 'complained'))`

// A prospect that was deleted and added again is the same person.
const hadSteps = (accountId: string, sequenceId: string) => sql`
  (e.prospect_id is null
   and exists (select 1
                 from outreach_messages m
                where m.account_id = ${accountId}
                  and m.sequence_id = ${sequenceId}
                  and m.recipient = g.email
                  and m.step is not null
                  and m.state <> 'failed'))`

// Who told another sequence to be away is away for this one.
const restOf = (accountId: string, at: Date) => sql`
  select max(o.rests_until) as until
    from outreach_enrollments o
   where o.account_id = ${accountId} and o.prospect_id = j.id and o.rests_until > ${at}`

const hasMailbox = sql`
  exists (select 1 from outreach_mailboxes b where b.account_id = e.account_id and b.id = e.mailbox_id)`

/**
 * One statement for all of them. Gives each as it was given, with the reason why it was left out. Who comes back goes
 * on with the step that they had come to, in their thread and not before its time; from the first one where its
 * mailbox is gone. Who is away stays so.
 */
export function enrollAll(db: Db, { accountId, sequenceId, ids, emails, at, again }: ToEnroll) {
  return db.many(
    Judged,
    sql`
    with ${givenBy(accountId, ids, emails)},
    judged as (
      select g.given, g.id,
             case when g.id is null then 'unknown'
                  when ${again} and e.state = 'stopped' and e.reason in ('refused', 'complained') then 'refused'
                  when e.prospect_id is not null and ${mayComeBack(again)} is not true then 'already_enrolled'
                  when not ${again} and ${hadSteps(accountId, sequenceId)} then 'already_enrolled'
                  when x.email <> g.email then 'erased'
                  when x.reason = 'unsubscribe' or c.status = 'unsubscribed' then 'unsubscribed'
                  when x.email is not null then 'suppressed' end as reason
        from given g
        left join outreach_enrollments e
          on e.account_id = ${accountId} and e.sequence_id = ${sequenceId} and e.prospect_id = g.id
        left join lateral (select s.email, s.reason
                             from suppressions s
                            where s.account_id = ${accountId} and s.email in (g.email, erased_name(g.email))
                            limit 1) x on true
        left join contacts c on c.account_id = ${accountId} and c.email = g.email),
    enrolled as (
      insert into outreach_enrollments as e
             (account_id, sequence_id, prospect_id, due_at, rests_until, created_at)
      select distinct ${accountId}::bigint, ${sequenceId}::bigint, j.id, greatest(${at}::timestamptz, r.until), r.until,
             ${at}::timestamptz
        from judged j
       cross join lateral (${restOf(accountId, at)}) r
       where j.reason is null
      on conflict (account_id, sequence_id, prospect_id) do update
         set state = 'active', reason = null, ended_at = null, planned_at = null, tries = 0,
             due_at = greatest(excluded.due_at, e.rests_until, case when ${hasMailbox} then e.due_at end),
             next_step = case when ${hasMailbox} then e.next_step else 0 end,
             mailbox_id = case when ${hasMailbox} and e.next_step > 0 then e.mailbox_id end
       where ${mayComeBack(again)})
    select given, id, reason from judged`,
  )
}

export const unenrollSkipReasons = ['unknown', 'not_enrolled'] as const
export type UnenrollSkipReason = (typeof unenrollSkipReasons)[number]

const Left = row<{ given: string; id: string | null; reason: UnenrollSkipReason | null }>({
  given: text,
  id: maybe(text),
  reason: maybe(text) as never,
})

/** What is being handed over at this moment still leaves. */
export function unenrollAll(db: Db, { accountId, sequenceId, ids, emails, at }: Given) {
  return db.many(
    Left,
    sql`
    with ${givenBy(accountId, ids, emails)},
    stopped as (
      update outreach_enrollments e
         set state = 'stopped', reason = 'manual', ended_at = ${at}, planned_at = null
       where e.account_id = ${accountId}
         and e.sequence_id = ${sequenceId}
         and e.prospect_id in (select id from found)
         and e.state = 'active'
      returning e.prospect_id)
    select g.given, g.id,
           case when g.id is null then 'unknown' when s.prospect_id is null then 'not_enrolled' end as reason
      from given g
      left join stopped s on s.prospect_id = g.id`,
  )
}
