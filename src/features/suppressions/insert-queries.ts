// Addresses onto the suppression list, and which reason stands there when there are several.
import type { Db } from '../../kernel/db.ts'
import { int, json, maybe, row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { reasonBeside, type SuppressionRef } from './queries.ts'
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
           created_at = greatest(excluded.created_at, suppressions.created_at),
           left_source = case when suppressions.left_source in ('contact', 'import')
                                or (suppressions.source = 'api' and suppressions.left_source is not null)
                              then suppressions.left_source
                              when suppressions.reason in ('unsubscribe', 'manual') then suppressions.source
                              else suppressions.left_source end
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
 * What is said of addresses that are suppressed for another reason: that one may be lifted by other hands, and this
 * stays then. That a contact is not to be written to outlasts what its person says; a guess gives way to anything.
 */
export function noteBeside(db: Db, refs: SuppressionRef[], why: Pick<NewSuppression, 'reason' | 'source'>) {
  const [accounts, emails] = [refs.map(({ accountId }) => accountId), refs.map(({ email }) => email)]
  const weaker = why.source === 'contact' || why.source === 'import' ? ['unsubscribe', 'api'] : []
  return db.run(sql`
    update suppressions s
       set left_source = ${why.source}
      from (select *
              from unnest(${accounts}::bigint[], ${emails}::text[]) as n (account_id, email)
            offset 0) r
     where s.account_id = r.account_id
       and s.email = r.email
       and (s.reason <> ${why.reason} or (s.source = 'api' and ${weaker.length > 0}))
       and (s.left_source is null
            or s.left_source = any(${[...weaker, 'outreach']}::text[])
            -- Whoever lifts a complaint lifts this too, and not that somebody left.
            or (s.left_source = 'api' and s.reason = 'complaint'))`)
}

/** What is about a person and not about a mailbox. */
const ofPerson: readonly Reason[] = ['unsubscribe', 'manual', 'complaint']
const isOfPerson = sql`reason = any(${ofPerson}::text[])`

type Said = Pick<NewSuppression, 'reason' | 'source' | 'messageId'>
const SaidOf = row<Said>({ reason: json(), source: text, messageId: maybe(text) })

/** What goes along when a person moves to another address. */
export function listSaid(db: Db, { accountId, email }: SuppressionRef) {
  return db.many(
    SaidOf,
    sql`
    select reason, source, message_id as "messageId"
      from suppressions
     where account_id = ${accountId} and email in (${email}, erased_name(${email})) and ${isOfPerson}
     union all
    select ${reasonBeside}, left_source, null
      from suppressions
     where account_id = ${accountId} and email in (${email}, erased_name(${email})) and left_source is not null`,
  )
}
