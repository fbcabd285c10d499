import type { Db } from '../../../kernel/db.ts'
import type { Address } from '../../../kernel/email-address.ts'
import { int, json, maybe, row, text, time } from '../../../kernel/row.ts'
import { sql, when } from '../../../kernel/sql.ts'

export const triggerTypes = ['custom_event', 'list_addition', 'abandoned_cart'] as const
export type TriggerType = (typeof triggerTypes)[number]

export const automationStatuses = ['active', 'paused'] as const
export type AutomationStatus = (typeof automationStatuses)[number]

export type Step = {
  delay_minutes: number
  subject?: string
  html?: string
  template_id?: number
  from?: string | Address
}

export type AutomationRow = {
  id: string
  name: string
  trigger_type: TriggerType
  event_name: string | null
  list_id: string | null
  steps: Step[]
  status: AutomationStatus
  created_at: Date
  updated_at: Date
}

const Automation = row<AutomationRow>({
  id: text,
  name: text,
  trigger_type: json(),
  event_name: maybe(text),
  list_id: maybe(text),
  steps: json(),
  status: json(),
  created_at: time,
  updated_at: time,
})

const columns = sql`id, name, trigger_type, event_name, list_id, steps, status, created_at, updated_at`

export function findAutomation(db: Db, accountId: string, id: string) {
  return db.maybe(
    Automation,
    sql`
    select ${columns} from automations where account_id = ${accountId} and id = ${id} and status <> 'deleted'`,
  )
}

/** Nobody else changes it until the transaction ends, and no step of its runs is decided on. */
export function lockAutomation(db: Db, accountId: string, id: string) {
  return db.maybe(
    Automation,
    sql`
    select ${columns}
      from automations
     where account_id = ${accountId} and id = ${id} and status <> 'deleted'
       for no key update`,
  )
}

export function listAutomations(
  db: Db,
  accountId: string,
  page: { after: string | undefined; limit: number },
) {
  return db.many(
    Automation,
    sql`
    select ${columns}
      from automations
     where account_id = ${accountId}
       and status <> 'deleted'
       ${when(page.after, (after) => sql`and id < ${after}`)}
     order by id desc
     limit ${page.limit}`,
  )
}

export type AutomationFields = {
  name: string
  trigger_type: TriggerType
  event_name: string | null
  list_id: number | null
  steps: Step[]
  offsets: number[]
  status: AutomationStatus
  keyId: string
  mode: 'live' | 'test'
}

type Of = { accountId: string; id: string; at: Date }

export function insertAutomation(db: Db, { accountId, id, at }: Of, fields: AutomationFields) {
  return db.one(
    Automation,
    sql`
    insert into automations
      (account_id, id, name, trigger_type, event_name, list_id, steps, offsets, status, key_id, mode, created_at,
       updated_at)
    values (${accountId}, ${id}, ${fields.name}, ${fields.trigger_type}, ${fields.event_name}, ${fields.list_id},
            ${JSON.stringify(fields.steps)}, ${fields.offsets}, ${fields.status}, ${fields.keyId}, ${fields.mode},
            ${at}, ${at})
    returning ${columns}`,
  )
}

/** Whose messages they are follows who says what is sent; a test key does not take a live one off the air. */
export function updateAutomation(
  db: Db,
  { accountId, id, at }: Of,
  fields: AutomationFields,
  isGivenAnew: boolean,
) {
  const isTaken = sql`${isGivenAnew}::bool and (mode = 'test' or ${fields.mode}::text = 'live')`
  return db.one(
    Automation,
    sql`
    update automations
       set name = ${fields.name}, trigger_type = ${fields.trigger_type}, event_name = ${fields.event_name},
           list_id = ${fields.list_id}, steps = ${JSON.stringify(fields.steps)}, offsets = ${fields.offsets},
           status = ${fields.status}, updated_at = ${at},
           key_id = case when ${isTaken} then ${fields.keyId} else key_id end,
           mode = case when ${isTaken} then ${fields.mode} else mode end
     where account_id = ${accountId}
       and id = ${id}
    returning ${columns}`,
  )
}

/** The row stays for the messages and runs that name it; its steps, which are never sent again, do not. */
export function deleteAutomation(db: Db, { accountId, id, at }: Of) {
  return db.run(sql`
    update automations
       set status = 'deleted', steps = '[]', updated_at = ${at}
     where account_id = ${accountId} and id = ${id} and status <> 'deleted'`)
}

const Count = row<{ count: number }>({ count: int })

type Trigger = Pick<AutomationFields, 'trigger_type' | 'event_name' | 'list_id'>

/** Others that start with the same trigger. Two declarations at once take turns, so that both count. */
export async function countLocked(db: Db, { accountId, id }: Pick<Of, 'accountId' | 'id'>, trigger: Trigger) {
  await db.run(sql`select pg_advisory_xact_lock(hashtextextended('automations', ${accountId}::bigint))`)
  const { count } = await db.one(
    Count,
    sql`
    select count(*)::int as count
      from automations
     where account_id = ${accountId}
       and id <> ${id}
       and status = 'active'
       and trigger_type = ${trigger.trigger_type}
       and (event_name = ${trigger.event_name} or list_id = ${trigger.list_id})`,
  )
  return count
}

export type CartAutomation = { id: string; offsets: number[]; steps: Step[] }

const Cart = row<CartAutomation>({ id: text, offsets: json(), steps: json() })

/** The newest that is active; else the newest, whose runs wait until it is. */
export function findCartAutomation(db: Db, accountId: string) {
  return db.maybe(
    Cart,
    sql`
    select id, offsets, steps
      from automations
     where account_id = ${accountId}
       and trigger_type = 'abandoned_cart'
       and status in ('active', 'paused')
     order by status, id desc
     limit 1`,
  )
}
