import type { Db } from '../../../kernel/db.ts'
import { json, maybe, row, text, texts, time } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import type { Value } from '../../contacts/attributes/values.ts'
import type { OptinToken } from './tokens.ts'

export type OptinRow = {
  email: string
  attributes: Record<string, Value>
  include_list_ids: string[]
  exclude_list_ids: string[]
  redirect_url: string
  key_id: string
  created_at: Date
  confirmed_at: Date | null
  account_name: string
  /** Of the key that asked for it. */
  mode: 'live' | 'test'
}

const Optin = row<OptinRow>({
  email: text,
  attributes: json(),
  include_list_ids: texts,
  exclude_list_ids: texts,
  redirect_url: text,
  key_id: text,
  created_at: time,
  confirmed_at: maybe(time),
  account_name: text,
  mode: json(),
})

const columns = sql`
  o.email, o.attributes, o.include_list_ids, o.exclude_list_ids, o.redirect_url, o.key_id, o.created_at,
  o.confirmed_at, a.name as account_name,
  coalesce((select k.mode from api_keys k where k.account_id = o.account_id and k.id = o.key_id), 'live') as mode`

export type NewOptin = OptinToken & Omit<OptinRow, 'confirmed_at' | 'account_name' | 'mode'>

export function insertOptin(db: Db, one: NewOptin) {
  return db.run(sql`
    insert into double_optins
      (account_id, id, email, attributes, include_list_ids, exclude_list_ids, redirect_url, key_id, created_at)
    values (${one.accountId}, ${one.id}, ${one.email}, ${JSON.stringify(one.attributes)}, ${one.include_list_ids},
            ${one.exclude_list_ids}, ${one.redirect_url}, ${one.key_id}, ${one.created_at})`)
}

type Asked = { accountId: string; email: string }

/** Until the transaction ends nobody else asks this address. */
export function takeTurn(db: Db, { accountId, email }: Asked) {
  return db.run(sql`select pg_advisory_xact_lock(hashtextextended(${`optin ${accountId} ${email}`}, 0))`)
}

const AskedAt = row<{ created_at: Date }>({ created_at: time })

/** When it was asked, the last time first. */
export function listAsked(
  db: Db,
  { accountId, email }: Asked,
  { since, limit }: { since: Date; limit: number },
) {
  return db.many(
    AskedAt,
    sql`
    select created_at
      from double_optins
     where account_id = ${accountId}
       and email = ${email}
       and created_at > ${since}
     order by created_at desc
     limit ${limit}`,
  )
}

export function findOptin(db: Db, { accountId, id }: OptinToken) {
  return db.maybe(
    Optin,
    sql`
    select ${columns}
      from double_optins o
      join accounts a on a.id = o.account_id
     where o.account_id = ${accountId} and o.id = ${id}`,
  )
}

/** Whoever else confirms it waits, and then finds it confirmed. */
export function lockOptin(db: Db, { accountId, id }: OptinToken) {
  return db.maybe(
    Optin,
    sql`
    select ${columns}
      from double_optins o
      join accounts a on a.id = o.account_id
     where o.account_id = ${accountId} and o.id = ${id}
       for update of o`,
  )
}

export function markConfirmed(db: Db, { accountId, id }: OptinToken, at: Date, ip: string) {
  return db.run(sql`
    update double_optins
       set confirmed_at = ${at}, confirmed_ip = ${ip}
     where account_id = ${accountId} and id = ${id}`)
}

export function deleteOldOptins(db: Db, before: Date) {
  return db.run(sql`
    -- all accounts: the job works for each of them
    delete from double_optins where created_at < ${before}`)
}
