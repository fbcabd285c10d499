import type { Db } from '../../../kernel/db.ts'
import { maybe, row, text } from '../../../kernel/row.ts'
import { type Sql, sql } from '../../../kernel/sql.ts'

export const skipReasons = ['unknown', 'already_enrolled', 'erased', 'unsubscribed', 'suppressed'] as const
export type SkipReason = (typeof skipReasons)[number]

const Judged = row<{ given: string; id: string | null; reason: SkipReason | null }>({
  given: text,
  id: maybe(text),
  reason: maybe(text) as never,
})

export type ToEnroll = { accountId: string; sequenceId: string; ids: string[]; emails: string[]; at: Date }

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

/** One statement for all of them. Gives each as it was given, with the reason why it was left out. */
export function enrollAll(db: Db, { accountId, sequenceId, ids, emails, at }: ToEnroll) {
  return db.many(
    Judged,
    sql`
    with ${givenBy(accountId, ids, emails)},
    judged as (
      select g.given, g.id,
             case when g.id is null then 'unknown'
                  when e.prospect_id is not null then 'already_enrolled'
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
      insert into outreach_enrollments (account_id, sequence_id, prospect_id, due_at, created_at)
      select distinct ${accountId}::bigint, ${sequenceId}::bigint, j.id, ${at}::timestamptz, ${at}::timestamptz
        from judged j
       where j.reason is null
      on conflict do nothing)
    select given, id, reason from judged`,
  )
}
