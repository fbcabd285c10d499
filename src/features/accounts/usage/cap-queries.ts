import type { Db } from '../../../kernel/db.ts'
import { int, json, maybe, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'

export type NearCap = {
  account_id: string
  /** null: the account's monthly quota. */
  key_id: string | null
  key_name: string | null
  most: number
  sent: string
}

const Near = row<NearCap>({
  account_id: text,
  key_id: maybe(text),
  key_name: maybe(text),
  most: int,
  sent: text,
})

type Asked = { day: string; month: string; share: number }

/** Keys and accounts that have used so large a share of what they may send. */
export function listNearCaps(db: Db, { day, month, share }: Asked) {
  return db.many(
    Near,
    sql`
    -- all accounts: the job works for each of them
    select k.account_id, k.id as key_id, k.name as key_name, k.daily_cap as most, d.sent
      from api_keys k
      join sending_days d on d.account_id = k.account_id and d.day = ${day}::date and d.key_id = k.id
     where k.daily_cap > 0
       and k.revoked_at is null
       and d.sent >= k.daily_cap * ${share}::numeric
    union all
    select a.id, null, null, a.monthly_quota, m.sent
      from accounts a
      join sending_months m on m.account_id = a.id and m.month = ${month}::date
     where a.monthly_quota > 0
       and m.sent >= a.monthly_quota * ${share}::numeric`,
  )
}

export type OpenNotice = { account_id: string; subject: string; details: { period?: string } }

const Open = row<OpenNotice>({ account_id: text, subject: text, details: json() })

export function listOpenCapNotices(db: Db) {
  return db.many(
    Open,
    sql`
    -- all accounts: the job works for each of them
    select account_id, subject, details from notices where code = 'cap_near' and resolved_at is null`,
  )
}
