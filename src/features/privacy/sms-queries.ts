// What is held under the telephone numbers of a person.
import type { Db } from '../../kernel/db.ts'
import { json, row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

type Who = { accountId: string; phones: string[] }

const Phone = row<{ phone: string }>({ phone: text })

/** That of the contact, and those that it had before, unless they are another contact's by now. */
export function listPhones(db: Db, accountId: string, email: string) {
  return db.many(
    Phone,
    sql`
    select c.sms as phone
      from contacts c
     where c.account_id = ${accountId} and c.email = ${email} and c.sms is not null
     union
    select h.old_value #>> '{}'
      from contacts c
      join contact_history h on h.account_id = c.account_id and h.contact_id = c.id
     where c.account_id = ${accountId}
       and c.email = ${email}
       and h.attribute = 'SMS'
       and h.old_value is not null
       and not exists (select 1
                         from contacts o
                        where o.account_id = ${accountId} and o.sms = h.old_value #>> '{}')
     order by 1`,
  )
}

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

export function exportSmsOptout(db: Db, { accountId, phones }: Who) {
  return db.one(
    Rows,
    sql`
    select coalesce(json_agg(to_jsonb(o) - 'account_id' - 'phone' order by created_at desc), '[]') as rows
      from sms_optouts o
     where account_id = ${accountId}
       and phone in (select n.name
                       from unnest(${phones}::text[]) as p (phone)
                      cross join lateral (values (p.phone), (erased_name(p.phone))) n (name))`,
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

/** The numbers give way to their hashes, so that nobody writes to them again. */
export async function keepPhoneHashes(db: Db, { accountId, phones }: Who, at: Date): Promise<number> {
  if (phones.length === 0) return 0
  const replaced = await db.run(
    sql`delete from sms_optouts where account_id = ${accountId} and phone = any(${phones}::text[])`,
  )
  await db.run(sql`
    insert into sms_optouts (account_id, phone, reason, created_at)
    select ${accountId}, erased_name(p.phone), 'erasure', ${at}
      from unnest(${phones}::text[]) as p (phone)
    on conflict (account_id, phone) do nothing`)
  return replaced
}
