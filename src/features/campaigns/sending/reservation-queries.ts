// What started campaigns are counted with until their recipients are written down.
import type { Db } from '../../../kernel/db.ts'
import { int, row, text, time } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { Ref } from './campaign-queries.ts'

export type Reservation = { key_id: string; count: number; at: Date }

const Reservation = row<Reservation>({ key_id: text, count: int, at: time })

export function insertReservation(db: Db, { account_id, id }: Ref, { key_id, count, at }: Reservation) {
  return db.run(sql`
    insert into campaign_reservations (account_id, campaign_id, key_id, count, at)
    values (${account_id}, ${id}, ${key_id}, ${count}, ${at})`)
}

/** Whoever takes it gives it back, and nobody else. */
export function takeReservation(db: Db, { account_id, id }: Ref) {
  return db.maybe(
    Reservation,
    sql`
    delete from campaign_reservations
     where account_id = ${account_id}
       and campaign_id = ${id}
    returning key_id, count, at`,
  )
}

const isIdle = sql`
  not exists (select 1
                from campaigns c
               where c.account_id = r.account_id
                 and c.id = r.campaign_id
                 and c.in_force = 'in_process'
                 and c.frozen_at is null)`

/** Of campaigns that do not come to write their recipients down: paused, interrupted, cancelled or deleted before. */
export function listIdleReservations(db: Db) {
  return db.many(
    Ref,
    sql`
    -- all accounts: the job serves them all
    select r.account_id, r.campaign_id as id
      from campaign_reservations r
     where ${isIdle}
     order by r.campaign_id`,
  )
}

/** Not where the campaign goes on meanwhile. */
export function takeIdleReservation(db: Db, { account_id, id }: Ref) {
  return db.maybe(
    Reservation,
    sql`
    delete from campaign_reservations r
     where r.account_id = ${account_id}
       and r.campaign_id = ${id}
       and ${isIdle}
    returning r.key_id, r.count, r.at`,
  )
}
