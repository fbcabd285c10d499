// The runs of automations: started with what triggers them, claimed and moved on by the job.
import type { Db } from '../../../kernel/db.ts'
import { json, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'

/** The address in its normal form, the moment of the purchase, and when it was told. */
export type Buyer = { accountId: string; email: string; at: Date; now: Date }

/** Those of carts that were left before; whoever tells the purchase may know its time by the second only. */
export function stopCarts(db: Db, { accountId, email, at, now }: Buyer) {
  return db.run(sql`
    update automation_runs
       set status = 'stopped', reason = 'purchase', ended_at = ${now}
     where account_id = ${accountId}
       and (email = ${email}
            or contact_id = (select id from contacts where account_id = ${accountId} and email = ${email}))
       and cart_id is not null
       and date_trunc('second', started_at) <= ${at}
       and status in ('running', 'paused')`)
}

/** Why a run ended. */
export const automationDeleted = 'automation deleted'

type EventRun = { id: string; contactId: string; name: string }
type Start = { accountId: string; mode: 'live' | 'test'; at: Date }

/**
 * The messages of a test key go nowhere, whatever the automation; and those of a test automation neither. Of somebody
 * who is unsubscribed the run ends where it begins, so that there is a trace of it.
 */
export function startEventRuns(db: Db, { accountId, mode, at }: Start, events: EventRun[]) {
  const named = events.map(({ id, contactId, name }) => ({ id, contactId, name }))
  return db.run(sql`
    insert into automation_runs
      (account_id, automation_id, contact_id, email, event_id, schedule, due_at, key_id, mode, started_at,
       status, reason, ended_at)
    select a.account_id, a.id, c.id, c.email, e.id, s.schedule, s.schedule[1], a.key_id,
           case when a.mode = 'test' then 'test' else ${mode} end, ${at}::timestamptz,
           case c.status when 'subscribed' then 'running' else 'stopped' end,
           case when c.status <> 'subscribed' then 'unsubscribed' end,
           case when c.status <> 'subscribed' then ${at}::timestamptz end
      from json_to_recordset(${JSON.stringify(named)}::json)
           as e (id uuid, "contactId" bigint, name text)
      join automations a on a.account_id = ${accountId} and a.event_name = e.name
       and a.status = 'active' and a.trigger_type = 'custom_event'
      join contacts c on c.account_id = a.account_id and c.id = e."contactId"
     cross join lateral (select schedule_of(a.offsets, ${at}) as schedule) s
     where c.email is not null
    on conflict (account_id, event_id, automation_id) where event_id is not null do nothing`)
}

/** Runs whose turn came while their automation was paused. */
export function resumeRuns(db: Db, accountId: string, automationId: string) {
  return db.run(sql`
    update automation_runs
       set status = 'running'
     where account_id = ${accountId}
       and automation_id = ${automationId}
       and status = 'paused'`)
}

export type NewCart = {
  accountId: string
  automationId: string | null
  contactId: string | null
  email: string
  cartId: string
  /** JSON text. */
  context: string
  schedule: Date[]
  isDelayGiven: boolean
  keyId: string
  mode: 'live' | 'test'
  at: Date
}

const Cart = row<{ id: string; schedule: Date[] }>({ id: text, schedule: json() })

type Cartful = Pick<NewCart, 'accountId' | 'contactId' | 'email' | 'cartId' | 'at'>

const ofCart = ({ accountId, cartId }: Cartful) => sql`
           r.account_id = ${accountId}
       and r.cart_id = ${cartId}
       and r.status in ('running', 'paused')`

/** Two calls about one cart would not see what the other makes of it. */
const takeTurns = (db: Db, { accountId, cartId }: Cartful) =>
  db.run(sql`select pg_advisory_xact_lock(hashtextextended(${`cart ${cartId}`}, ${accountId}::bigint))`)

/** The cart is free for the reminders of another; the rest of a deleted automation's runs end when their turn comes. */
function endDeleted(db: Db, cart: Cartful) {
  return db.run(sql`
    update automation_runs r
       set status = 'stopped', reason = ${automationDeleted}, ended_at = ${cart.at}
      from automations a
     where ${ofCart(cart)}
       and (r.email = ${cart.email} or r.contact_id = ${cart.contactId})
       and a.account_id = ${cart.accountId}
       and a.id = r.automation_id
       and a.status = 'deleted'`)
}

/** A run goes on with the contact's address of today; of several the one of that address, or the newest. */
async function followContact(db: Db, cart: Cartful): Promise<void> {
  const { accountId, contactId, email, at } = cart
  const elsewhere = sql`${ofCart(cart)} and r.contact_id = ${contactId} and r.email <> ${email}`
  await db.run(sql`
    with others as (
      select r.id from automation_runs r where ${elsewhere}),
    stays as (
      select max(id::text)::uuid as id
        from others
       where not exists (select 1 from automation_runs r where ${ofCart(cart)} and r.email = ${email}))
    update automation_runs r
       set status = 'stopped', reason = 'the same cart of another address', ended_at = ${at}
      from others o
     where r.account_id = ${accountId}
       and r.id = o.id
       -- It may have ended while this waited for it.
       and r.status in ('running', 'paused')
       and r.id is distinct from (select id from stays)`)
  await db.run(sql`
    update automation_runs r
       set email = ${email}
     where r.account_id = ${accountId}
       and ${elsewhere}`)
}

/** Of a cart whose run is under way the contents change; its times too, when they are given and it has not begun. */
export async function startCart(db: Db, cart: NewCart) {
  await takeTurns(db, cart)
  await endDeleted(db, cart)
  if (cart.contactId !== null) await followContact(db, cart)
  return db.one(
    Cart,
    sql`
    insert into automation_runs as r
      (account_id, automation_id, contact_id, email, cart_id, context, schedule, due_at, key_id, mode, started_at)
    values (${cart.accountId}, ${cart.automationId}, ${cart.contactId}, ${cart.email}, ${cart.cartId},
            ${cart.context}, ${cart.schedule}::timestamptz[], ${cart.schedule[0]}, ${cart.keyId}, ${cart.mode},
            ${cart.at})
    on conflict (account_id, email, cart_id) where cart_id is not null and status in ('running', 'paused')
    do update
       set context = excluded.context,
           schedule = case when ${cart.isDelayGiven} and r.next_step = 0 then excluded.schedule else r.schedule end,
           due_at = case when ${cart.isDelayGiven} and r.next_step = 0 then excluded.due_at else r.due_at end
    returning id, schedule`,
  )
}
