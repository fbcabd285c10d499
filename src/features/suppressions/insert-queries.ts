// Addresses onto the suppression list, and which reason stands there when there are several.
import type { Db } from '../../kernel/db.ts'
import { int, row } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import type { SuppressionRef } from './queries.ts'
import type { Reason } from './suppressions.ts'

export type NewSuppression = SuppressionRef & {
  id: string
  reason: Reason
  source: string
  messageId: string | null
  at: Date
}

/**
 * The first reason stays, since it is what stopped the address, until there is a complaint: it says most about the
 * person and about us, and no other reason comes in its place.
 */
const complaintOutdoes = sql`
    on conflict (account_id, email) do update
       set reason = excluded.reason, source = excluded.source, message_id = excluded.message_id, id = excluded.id,
           created_at = greatest(excluded.created_at, suppressions.created_at)
     where excluded.reason = 'complaint' and suppressions.reason <> 'complaint'`

const Added = row<{ added: number }>({ added: int })

/** Gives how many were not suppressed before. That of an erased person is not written down again. */
export async function insertSuppressions(db: Db, suppressions: NewSuppression[]): Promise<number> {
  const { added } = await db.one(
    Added,
    sql`
    with written as (
    insert into suppressions (account_id, email, reason, source, message_id, created_at, id)
    select distinct on (n."accountId", n.email)
           n."accountId", n.email, n.reason, n.source, n."messageId", n.at, n.id
      from json_to_recordset(${JSON.stringify(suppressions)}::json)
           as n (id uuid, "accountId" bigint, email text, reason text, source text, "messageId" uuid, at timestamptz)
     where not exists (select 1
                         from suppressions e
                        where e.account_id = n."accountId" and e.email = erased_name(n.email))
     order by n."accountId", n.email, n.reason = 'complaint' desc, n.id
    ${complaintOutdoes}
    -- A row that was there before has been locked.
    returning xmax = 0 as is_new)
    select count(*) filter (where is_new)::int as added from written`,
  )
  return added
}

/**
 * Of addresses that bounce: a bounce is lifted by other hands than the person's. What was said in a way that counts
 * more than `less` stays.
 */
export function noteLeaving(
  db: Db,
  refs: SuppressionRef[],
  { source, less }: { source: string; less: string },
) {
  const [accounts, emails] = [refs.map(({ accountId }) => accountId), refs.map(({ email }) => email)]
  return db.run(sql`
    update suppressions s
       set left_source = ${source}
      from (select *
              from unnest(${accounts}::bigint[], ${emails}::text[]) as n (account_id, email)
            offset 0) r
     where s.account_id = r.account_id
       and s.email = r.email
       and s.reason in ('hard_bounce', 'soft_bounce_limit')
       and (s.left_source is null or s.left_source = ${less})`)
}

/** What is about a person and not about a mailbox. */
const ofPerson: readonly Reason[] = ['unsubscribe', 'manual', 'complaint']
const isOfPerson = sql`reason = any(${ofPerson}::text[])`

/** To the address that a person has moved to; the old one keeps its own. */
export function copySuppression(
  db: Db,
  { accountId, email }: SuppressionRef,
  to: { email: string; id: string; at: Date },
) {
  return db.run(sql`
    insert into suppressions (account_id, email, reason, source, message_id, created_at, id)
    select account_id, ${to.email}, case when ${isOfPerson} then reason else 'unsubscribe' end,
           case when ${isOfPerson} then source else left_source end, message_id, ${to.at}, ${to.id}
      from suppressions
     where account_id = ${accountId}
       and email in (${email}, erased_name(${email}))
       and (${isOfPerson} or left_source is not null)
       and not exists (select 1
                         from suppressions e
                        where e.account_id = ${accountId} and e.email = erased_name(${to.email}))
     limit 1
    ${complaintOutdoes}`)
}
