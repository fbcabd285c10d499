import type { Db } from '../../../kernel/db.ts'
import { bool, bytes, int, maybe, row, text, time } from '../../../kernel/row.ts'
import { sql, when } from '../../../kernel/sql.ts'

const Installation = row<{ cursor_key: Buffer }>({ cursor_key: bytes })

export async function ensureInstallation(db: Db, cursorKey: Buffer) {
  await db.run(sql`insert into installation (cursor_key) values (${cursorKey}) on conflict do nothing`)
  return db.one(Installation, sql`select cursor_key from installation`)
}

const Id = row<{ id: string }>({ id: text })

export function lockFirstAccount(db: Db) {
  return db.run(sql`select pg_advisory_xact_lock(hashtextextended('posthorn: first account', 0))`)
}

export function findFirstAccount(db: Db) {
  return db.maybe(Id, sql`select id from accounts order by id limit 1`)
}

export function insertAccount(
  db: Db,
  account: { name: string; outreach: boolean; monthlyQuota: number | null },
) {
  return db.one(
    Id,
    sql`
    insert into accounts (name, outreach_enabled, monthly_quota)
    values (${account.name}, ${account.outreach}, ${account.monthlyQuota})
    returning id`,
  )
}

export function renameAccount(db: Db, id: string, name: string) {
  return db.run(sql`update accounts set name = ${name} where id = ${id}`)
}

export function setMonthlyQuota(db: Db, id: string, quota: number | null) {
  return db.run(sql`update accounts set monthly_quota = ${quota} where id = ${id}`)
}

export type AccountRow = {
  id: string
  name: string
  outreach_enabled: boolean
  monthly_quota: number | null
  created_at: Date
}

const Account = row<AccountRow>({
  id: text,
  name: text,
  outreach_enabled: bool,
  monthly_quota: maybe(int),
  created_at: time,
})

export function listAccounts(db: Db, id?: string) {
  return db.many(
    Account,
    sql`
    select id, name, outreach_enabled, monthly_quota, created_at
      from accounts
     where true ${when(id, (one) => sql`and id = ${one}`)}
     order by id`,
  )
}

export function upsertLimit(db: Db, accountId: string, operation: string, perMinute: number) {
  return db.run(sql`
    insert into account_limits (account_id, operation, per_minute)
    values (${accountId}, ${operation}, ${perMinute})
    on conflict (account_id, operation) do update set per_minute = excluded.per_minute`)
}

export function deleteLimit(db: Db, accountId: string, operation: string) {
  return db.run(sql`delete from account_limits where account_id = ${accountId} and operation = ${operation}`)
}
