// What the job reads and writes: runs whose next step is due, of all accounts.
import type { Db } from '../../../kernel/db.ts'
import { bool, int, json, maybe, row, text, texts } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import type { Value } from '../../contacts/attributes/values.ts'
import type { Step, TriggerType } from './queries.ts'

export type DueRun = {
  account_id: string
  id: string
  automation_id: string | null
  email: string
  context: Record<string, unknown>
  schedule: Date[]
  next_step: number
  waits: number
  key_id: string
  mode: 'live' | 'test'
  /** Of the contact as it is now, where there is one. */
  contact_id: string | null
  contact_email: string | null
  contact_status: string | null
  contact_sms: string | null
  consent_source: string | null
  attributes: Record<string, Value> | null
  left_list_ids: string[]
}

const Due = row<DueRun>({
  account_id: text,
  id: text,
  automation_id: maybe(text),
  email: text,
  context: json(),
  schedule: json(),
  next_step: int,
  waits: int,
  key_id: text,
  mode: json(),
  contact_id: maybe(text),
  contact_email: maybe(text),
  contact_status: maybe(text),
  contact_sms: maybe(text),
  consent_source: maybe(text),
  attributes: json(),
  left_list_ids: texts,
})

// Accounts are found by skipping through the index: the cost follows their number, not that of their runs.
const shares = (limit: number, without: string[]) => sql`
    -- all accounts: the worker serves them all
    waiting (account_id) as (
      (select account_id from automation_runs where status = 'running' order by account_id limit 1)
      union all
      select (select r.account_id
                from automation_runs r
               where r.status = 'running' and r.account_id > w.account_id
               order by r.account_id
               limit 1)
        from waiting w
       where w.account_id is not null
    ), shares as (
      select account_id, greatest(1, ${limit}::int / count(*) over ())::int as share
        from waiting
       where account_id is not null and account_id <> all(${without}::bigint[])
    )`

/** The same share of each account but of those that wait for something. They are the caller's until it commits. */
export function claimRuns(db: Db, now: Date, { limit, without }: { limit: number; without: string[] }) {
  return db.many(
    Due,
    sql`
    with recursive ${shares(limit, without)}, picked as (
      select d.*
        from shares s
       cross join lateral (
             select r.*
               from automation_runs r
              where r.account_id = s.account_id
                and r.status = 'running'
                and r.due_at <= ${now}
              order by r.due_at
              limit s.share
                for update skip locked) d
       limit ${limit})
    select p.account_id, p.id, p.automation_id, p.email, coalesce(p.context, v.properties, '{}') as context,
           p.schedule, p.next_step, p.waits, p.key_id, p.mode, c.id as contact_id,
           c.email as contact_email, c.status as contact_status, c.sms as contact_sms, c.attributes, c.consent_source,
           array(select u.list_id
                   from list_unsubscriptions u
                  where u.account_id = c.account_id and u.contact_id = c.id) as left_list_ids
      from picked p
      left join custom_events v on v.account_id = p.account_id and v.id = p.event_id
      left join contacts c on c.account_id = p.account_id
       and c.id = coalesce(p.contact_id, (select x.id
                                            from contacts x
                                           where x.account_id = p.account_id and x.email = p.email))`,
  )
}

export type UsedAutomation = {
  id: string
  trigger_type: TriggerType
  list_id: string | null
  steps: Step[]
  status: 'active' | 'paused' | 'deleted'
}

const Used = row<UsedAutomation>({
  id: text,
  trigger_type: json(),
  list_id: maybe(text),
  steps: json(),
  status: json(),
})

type Refs = { accountId: string; id: string }[]

const columnsOf = (refs: Refs) =>
  sql`unnest(${refs.map(({ accountId }) => accountId)}::bigint[], ${refs.map(({ id }) => id)}::uuid[])`

/** Whoever wants to pause or resume them waits until what is decided on here is written. */
export function holdAutomations(db: Db, refs: Refs) {
  return db.many(
    Used,
    sql`
    select a.id, a.trigger_type, a.list_id, a.steps, a.status
      from (select distinct account_id, id from ${columnsOf(refs)} as g (account_id, id) order by 1, 2) g
      join automations a on a.account_id = g.account_id and a.id = g.id
       for share of a`,
  )
}

export type UsedKey = {
  id: string
  name: string
  daily_cap: number | null
  sender_domains: string[] | null
  verified_sender_only: boolean
  has_quota: boolean
}

const Key = row<UsedKey>({
  id: text,
  name: text,
  daily_cap: maybe(int),
  sender_domains: maybe(texts),
  verified_sender_only: bool,
  has_quota: bool,
})

export function findUsedKeys(db: Db, ids: string[]) {
  return db.many(
    Key,
    sql`
    -- all accounts: the worker serves them all
    select k.id, k.name, k.daily_cap, k.sender_domains,
           a.settings @> '{"require_verified_sender": true}' as verified_sender_only,
           a.monthly_quota is not null as has_quota
      from api_keys k
      join accounts a on a.id = k.account_id
     where k.id = any(${ids}::uuid[])`,
  )
}

/** What became of a run whose turn came. */
export type Move = {
  id: string
  accountId: string
  nextStep: number
  dueAt: Date
  status: 'running' | 'paused' | 'finished' | 'stopped' | 'failed'
  reason: string | null
  waits: number
}

export function moveRuns(db: Db, moves: Move[], at: Date) {
  return db.run(sql`
    update automation_runs r
       set next_step = m."nextStep", due_at = m."dueAt", status = m.status, reason = m.reason, waits = m.waits,
           ended_at = case when m.status in ('running', 'paused') then null else ${at}::timestamptz end
      from json_to_recordset(${JSON.stringify(moves)}::json)
           as m (id uuid, "accountId" bigint, "nextStep" int, "dueAt" timestamptz, status text, reason text, waits int)
     where r.account_id = m."accountId"
       and r.id = m.id`)
}

/** Of those that were stopped: what began while its person was being erased. */
export function forgetErased(db: Db, refs: Refs) {
  return db.run(sql`
    delete from automation_runs r
     using ${columnsOf(refs)} as g (account_id, id), suppressions s
     where r.account_id = g.account_id
       and r.id = g.id
       and s.account_id = r.account_id
       and s.email = erased_name(r.email)`)
}
