// What is held under the telephone number of a person.
import type { Db } from '../../kernel/db.ts'
import { json, row } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

type Who = { accountId: string; phone: string | null }

const Rows = row<{ rows: Record<string, unknown>[] }>({ rows: json() })

export function exportSms(db: Db, { accountId, phone }: Who) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(m) - 'account_id' - 'key_id' || jsonb_build_object(
             'events', (select coalesce(jsonb_agg(to_jsonb(e) - 'account_id' - 'message_id' order by e.at, e.id), '[]')
                          from sms_events e
                         where e.account_id = m.account_id and e.message_id = m.id)) order by m.id), '[]') as rows
      from sms_messages m
     where m.account_id = ${accountId} and m.recipient = ${phone}`,
  )
}

export function exportSmsOptout(db: Db, { accountId, phone }: Who) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(o) - 'account_id' - 'phone'), '[]') as rows
      from sms_optouts o
     where account_id = ${accountId} and phone in (${phone}, erased_name(${phone}))`,
  )
}

/** Waits for what is being recorded about them. */
export function lockSms(db: Db, { accountId, phone }: Who) {
  return db.run(sql`
    select 1 from sms_messages where account_id = ${accountId} and recipient = ${phone} order by id for update`)
}

export function eraseSmsEvents(db: Db, { accountId, phone }: Who) {
  return db.run(sql`
    delete from sms_events e
     using sms_messages m
     where m.account_id = ${accountId}
       and m.recipient = ${phone}
       and e.account_id = m.account_id
       and e.message_id = m.id`)
}

export function eraseSms(db: Db, { accountId, phone }: Who) {
  return db.run(sql`delete from sms_messages where account_id = ${accountId} and recipient = ${phone}`)
}

/** The number gives way to its hash, so that nobody writes to it again. */
export async function keepPhoneHash(db: Db, { accountId, phone }: Who, at: Date): Promise<number> {
  if (phone === null) return 0
  const replaced = await db.run(
    sql`delete from sms_optouts where account_id = ${accountId} and phone = ${phone}`,
  )
  await db.run(sql`
    insert into sms_optouts (account_id, phone, reason, created_at)
    values (${accountId}, erased_name(${phone}), 'erasure', ${at})
    on conflict (account_id, phone) do nothing`)
  return replaced
}
