// What is held under the telephone numbers of a person.
import type { Db } from '../../kernel/db.ts'
import { json, row } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

type Who = { accountId: string; phones: string[] }

const Rows = row<{ rows: Record<string, unknown>[] }>({ rows: json() })

export function exportSms(db: Db, { accountId, phones }: Who) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(m) - 'account_id' - 'key_id' || jsonb_build_object(
             'events', (select coalesce(jsonb_agg(to_jsonb(e) - 'account_id' - 'message_id' order by e.at, e.id), '[]')
                          from sms_events e
                         where e.account_id = m.account_id and e.message_id = m.id)) order by m.id), '[]') as rows
      from sms_messages m
     where m.account_id = ${accountId} and m.recipient = any(${phones}::text[])`,
  )
}

/** Of several that of the number in use comes first. */
export function exportSmsOptout(db: Db, { accountId, phones }: Who) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(o) - 'account_id' - 'phone' order by n.place), '[]') as rows
      from unnest(${phones}::text[]) with ordinality as n (phone, place)
      join sms_optouts o on o.phone in (n.phone, erased_name(n.phone))
     where o.account_id = ${accountId}`,
  )
}

/** Waits for what is being recorded about them. */
export function lockSms(db: Db, { accountId, phones }: Who) {
  return db.run(sql`
    select 1
      from sms_messages
     where account_id = ${accountId} and recipient = any(${phones}::text[])
     order by id
       for update`)
}

export function eraseSmsEvents(db: Db, { accountId, phones }: Who) {
  return db.run(sql`
    delete from sms_events e
     using sms_messages m
     where m.account_id = ${accountId}
       and m.recipient = any(${phones}::text[])
       and e.account_id = m.account_id
       and e.message_id = m.id`)
}

export function eraseSms(db: Db, { accountId, phones }: Who) {
  return db.run(
    sql`delete from sms_messages where account_id = ${accountId} and recipient = any(${phones}::text[])`,
  )
}

/** Each number gives way to its hash, so that nobody writes to it again. */
export async function keepPhoneHashes(db: Db, { accountId, phones }: Who, at: Date): Promise<number> {
  const replaced = await db.run(
    sql`delete from sms_optouts where account_id = ${accountId} and phone = any(${phones}::text[])`,
  )
  await db.run(sql`
    insert into sms_optouts (account_id, phone, reason, created_at)
    select ${accountId}, erased_name(n.phone), 'erasure', ${at}
      from unnest(${phones}::text[]) as n (phone)
    on conflict (account_id, phone) do nothing`)
  return replaced
}
