import type { Db } from '../../kernel/db.ts'
import { int, json, row, text, time } from '../../kernel/row.ts'
import { sql, when } from '../../kernel/sql.ts'
import type { Encoding } from './count-parts.ts'

export type SmsType = 'transactional' | 'marketing'

export type NewSms = {
  accountId: string
  keyId: string
  mode: 'live' | 'test'
  type: SmsType
  sender: string
  recipient: string
  content: string
  encoding: Encoding
  parts: number
  tags: string[]
  reference: string
  remainingCredits: number
  at: Date
}

const Id = row<{ id: string }>({ id: text })

export function insertSms(db: Db, sms: NewSms) {
  return db.one(
    Id,
    sql`
    insert into sms_messages
      (account_id, key_id, mode, type, status, sender, recipient, content, encoding, parts, tags, reference,
       remaining_credits, created_at, due_at)
    values (${sms.accountId}, ${sms.keyId}, ${sms.mode}, ${sms.type}, 'queued', ${sms.sender}, ${sms.recipient},
            ${sms.content}, ${sms.encoding}, ${sms.parts}, ${sms.tags}, ${sms.reference}, ${sms.remainingCredits},
            ${sms.at}, least(${sms.at}::timestamptz, clock_timestamp()))
    returning id`,
  )
}

/** Why an account may not write to a number; rows only when it may not. */
export const optoutOf = (accountId: unknown, phone: unknown) => sql`
  select reason
    from sms_optouts
   where account_id = ${accountId} and phone in (${phone}, erased_name(${phone}))
  union all
  select 'blacklisted' from contacts where account_id = ${accountId} and sms = ${phone} and sms_blacklisted
  limit 1`

const Optout = row<{ reason: string }>({ reason: text })

export function findOptout(db: Db, accountId: string, phone: string) {
  return db.maybe(Optout, optoutOf(accountId, phone))
}

type NewOptout = { accountId: string; phone: string; reason: 'stop' | 'upstream'; at: Date }

/** That of an erased person is not written down again. */
export async function insertOptout(db: Db, { accountId, phone, reason, at }: NewOptout): Promise<void> {
  await db.run(sql`
    insert into sms_optouts (account_id, phone, reason, created_at)
    select ${accountId}::bigint, ${phone}, ${reason}, ${at}
     where not exists (select 1
                         from sms_optouts
                        where account_id = ${accountId} and phone = erased_name(${phone}))
    on conflict (account_id, phone) do nothing`)
  await db.run(sql`
    update contacts
       set sms_blacklisted = true, modified_at = ${at}
     where account_id = ${accountId} and sms = ${phone} and not sms_blacklisted`)
}

export type CapturedRow = {
  id: string
  sender: string
  recipient: string
  content: string
  type: SmsType
  encoding: Encoding
  parts: number
  captured_at: Date
}

const Captured = row<CapturedRow>({
  id: text,
  sender: text,
  recipient: text,
  content: text,
  type: json(),
  encoding: json(),
  parts: int,
  captured_at: time,
})

type Filter = { to?: string; after?: string; limit: number }

export function listCaptured(db: Db, accountId: string, { to, after, limit }: Filter) {
  return db.many(
    Captured,
    sql`
    select id, sender, recipient, content, type, encoding, parts, captured_at
      from sms_messages
     where account_id = ${accountId}
       and captured_at is not null
       ${when(to, (recipient) => sql`and recipient = ${recipient}`)}
       ${when(after, (id) => sql`and id < ${id}`)}
     order by id desc
     limit ${limit}`,
  )
}

/** The same one captured twice after a crash is one. */
export function markCaptured(db: Db, accountId: string, id: string, at: Date) {
  return db.run(sql`
    update sms_messages
       set captured_at = coalesce(captured_at, ${at})
     where account_id = ${accountId} and id = ${id}`)
}
