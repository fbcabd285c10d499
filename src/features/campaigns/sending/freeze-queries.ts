// The recipients of a campaign become messages, all of them in one statement.
import type { Db } from '../../../kernel/db.ts'
import { bool, int, json, maybe, row, text, time } from '../../../kernel/row.ts'
import { type Sql, sql } from '../../../kernel/sql.ts'
import { blockedDomain } from '../../suppressions/queries.ts'
import type { AbTest } from '../campaign-row.ts'
import { hasErased, type Recipients, type ResolvedRecipients, recipientRows } from '../recipients-queries.ts'
import { Ref } from './campaign-queries.ts'
import { lacksFile } from './file-queries.ts'

/** One that was cancelled in the meantime had its recipients nevertheless: they are told of as such. */
const isUnfrozen = sql`
  c.frozen_at is null
       and (c.in_force = 'in_process' or (c.in_force = 'cancelled' and c.total is not null))`

/** Of those with a file, only where it is there; what is cancelled needs none. */
export function listUnfrozen(db: Db) {
  return db.many(
    Ref,
    sql`
    -- all accounts: the job serves them all
    select account_id, id
      from campaigns c
     where ${isUnfrozen}
       and (c.in_force = 'cancelled' or not ${lacksFile})
     order by id`,
  )
}

const Taken = row<{ taken: boolean }>({ taken: bool })

/** One process freezes a campaign. Not by a lock of its row: it can be paused meanwhile. */
export function takeFreezing(db: Db, { id }: Ref) {
  return db.one(
    Taken,
    sql`select pg_try_advisory_xact_lock(hashtextextended(${`campaign freeze ${id}`}, 0)) as taken`,
  )
}

export type UnfrozenRow = Ref & {
  in_force: string
  sender: { email: string; name?: string }
  subject: string
  tag: string | null
  recipients: Recipients
  ab_test: AbTest | null
  key_id: string
  mode: string
  started_at: Date | null
  modified_at: Date
  /** How many it was for when it was started, where that was told. */
  total: number | null
}

const Unfrozen = row<UnfrozenRow>({
  account_id: text,
  id: text,
  in_force: text,
  sender: json(),
  subject: text,
  tag: maybe(text),
  recipients: json(),
  ab_test: json(),
  key_id: text,
  mode: text,
  started_at: maybe(time),
  modified_at: time,
  total: maybe(int),
})

export function findUnfrozen(db: Db, { account_id, id }: Ref) {
  return db.maybe(
    Unfrozen,
    sql`
    select account_id, id, in_force, sender, subject, tag, recipients, ab_test, key_id, mode, started_at, modified_at,
           total
      from campaigns c
     where account_id = ${account_id}
       and id = ${id}
       and ${isUnfrozen}`,
  )
}

export type Frozen = { total: number; waiting: number }

const Frozen = row<Frozen>({ total: int, waiting: int })

export const waitsForWinner = 'Waits for the winner of the A/B test.'

type Freezing = { campaign: UnfrozenRow; recipients: ResolvedRecipients; domain: string; at: Date }

/** Those who may not be written to are recorded with the rest, and with the reason. */
export function insertRecipients(db: Db, { campaign, recipients, domain, at }: Freezing) {
  const { account_id, id, sender, tag } = campaign
  const ms = at.getTime()
  const isCancelled = sql`${campaign.in_force}::text = 'cancelled'`
  // This work comes later than the start; who joined a list in between is not among those who were asked for.
  const rows = recipientRows(account_id, recipients, campaign.started_at ?? at)
  return db.one(
    Frozen,
    sql`
    with listed as (
      insert into messages
        (id, account_id, key_id, status, source, mode, stream, sender, sender_name, recipient, subject, tag, tags,
         campaign_id, list_id, consent_source, variant, held_reason, message_id, created_at)
      select id, ${account_id}::bigint, ${campaign.key_id}::uuid,
             case when is_blocked then 'suppressed' when ${isCancelled} then 'cancelled'
                  when variant = 'R' then 'held' else 'queued' end,
             'campaign', ${campaign.mode}::text, 'marketing', ${sender.email}::text, ${sender.name ?? null}::text,
             email, ${subjectOf(campaign)}, ${tag}::text,
             case when ${tag}::text is not null then array[${tag}::text] end,
             ${id}::bigint, list_id, consent_source, variant,
             case when variant = 'R' and not ${isCancelled} then ${waitsForWinner}::text end,
             '<' || replace(id::text, '-', '') || ${`@${domain}>`}::text,
             ${at}::timestamptz
        from (select r.*, ordered_uuid(${ms}::bigint, n) as id
                from (${withVariants(campaign, rows)}) r) made
      returning id, status, recipient),
    blocked as (${blockingOf(campaign, at)}),
    counted as (${countingOf(campaign, at)})
    select count(*)::int as total, count(*) filter (where status <> 'suppressed')::int as waiting from listed`,
  )
}

/** Why somebody is not written to, as delivery would say. */
function blockingOf({ account_id }: Ref, at: Date): Sql {
  return sql`
      insert into message_events (id, account_id, message_id, type, at, data, of_campaign)
      select ordered_uuid(${at.getTime()}::bigint, row_number() over ()), ${account_id}::bigint, l.id, 'blocked',
             ${at}::timestamptz, jsonb_build_object('reason', coalesce(
               s.reason,
               e.reason,
               (select ${blockedDomain}::text
                  from blocked_domains d
                 where d.account_id = ${account_id} and d.domain = split_part(l.recipient, '@', -1)),
               'unsubscribe')), true
        from listed l
        left join suppressions s on s.account_id = ${account_id} and s.email = l.recipient
       cross join lateral (
             select erased_name(l.recipient, (select address_key from installation)) as erased offset 0) n
        left join suppressions e on e.account_id = ${account_id} and e.email = n.erased
       where l.status = 'suppressed'`
}

/** What no trigger tells: it would look at a million rows one by one. */
function countingOf({ account_id, id }: Ref, at: Date): Sql {
  return sql`
      insert into message_count_changes (account_id, day, campaign_id, list_id, tag, consent_source, name, n)
      select ${account_id}::bigint, counted_day(null, ${at}::timestamptz), ${id}::bigint, 0, '', '',
             'status.' || status, count(*)
        from listed
       group by status`
}

const Dropped = row<{ waiting: number }>({ waiting: int })

/**
 * Who was erased after the recipients were read was not written down yet, and so not erased with the rest. The counts
 * keep them as other erased people; gives how many of them were still to be written to.
 */
export function dropErased(db: Db, { account_id, id }: Ref) {
  return db.one(
    Dropped,
    sql`
    with erased as materialized (
      select m.id, m.status
        from messages m
       where m.account_id = ${account_id}
         and m.campaign_id = ${id}
         -- By itself: where nobody was erased, the messages are not read at all.
         and ${hasErased(account_id)}
         and case when not exists (select 1
                                     from contacts c
                                    where c.account_id = ${account_id} and c.email = m.recipient)
                  then exists (select 1
                                 from suppressions s
                                where s.account_id = ${account_id}
                                  and s.email = erased_name(m.recipient, (select address_key from installation)))
                  else false
             end),
    dropped as (delete from messages where account_id = ${account_id} and id in (select id from erased))
    select count(*) filter (where status = 'queued' or status = 'held')::int as waiting from erased`,
  )
}

/** Who went between the start and now stays in the total, and like an erased person in no list. */
export function countGone(db: Db, { account_id, id }: Ref, gone: number, at: Date) {
  return db.run(sql`
    insert into message_count_changes (account_id, day, campaign_id, list_id, tag, consent_source, name, n)
    select ${account_id}::bigint, counted_day(null, ${at}::timestamptz), ${id}::bigint, 0, '', '', name, ${gone}::int
      from unnest(array['status.cancelled', 'erased.cancelled']) as name`)
}

function subjectOf({ subject, ab_test }: UnfrozenRow): Sql {
  if (!ab_test) return sql`${subject}::text`
  return sql`case variant when 'B' then ${ab_test.subjectB}::text else ${ab_test.subjectA}::text end`
}

function withVariants({ id, ab_test }: UnfrozenRow, rows: Sql): Sql {
  const judged = sql`select r.*, is_unsubscribed or is_suppressed as is_blocked from (${rows}) r`
  if (!ab_test) return sql`select r.*, row_number() over () as n, null::text as variant from (${judged}) r`
  const { splitRule } = ab_test
  // By rank and not by chance, so that the shares are exact however few they are.
  return sql`
    select r.*, row_number() over () as n,
           case when is_blocked then null
                when ${splitRule}::int >= 50 then case when place * 2 <= places + 1 then 'A' else 'B' end
                when place <= greatest(1, places * ${splitRule}::int / 100) then 'A'
                when place <= 2 * greatest(1, places * ${splitRule}::int / 100) then 'B'
                else 'R' end as variant
      from (select r.*,
                   row_number() over (partition by is_blocked
                                      order by hashint8extended(contact_id, ${id}::bigint), contact_id) as place,
                   count(*) over (partition by is_blocked) as places
              from (${judged}) r) r`
}

/** Its messages are as the campaign was when it was read; where it is in another state by now, they are to follow. */
export function markFrozen(
  db: Db,
  { account_id, id, in_force }: UnfrozenRow,
  { total, at }: { total: number; at: Date },
) {
  return db.run(sql`
    update campaigns
       set frozen_at = ${at},
           total = ${total},
           followed = case when in_force = ${in_force} then in_force end
     where account_id = ${account_id}
       and id = ${id}`)
}
