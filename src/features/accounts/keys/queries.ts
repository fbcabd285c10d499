import type { Db } from '../../../kernel/db.ts'
import { bool, bytes, int, json, maybe, row, text, texts, time } from '../../../kernel/row.ts'
import type { Scope } from '../../../kernel/scope.ts'
import { sql, when } from '../../../kernel/sql.ts'

export type KeyRow = {
  id: string
  account_id: string
  name: string
  mode: 'live' | 'test'
  scopes: Scope[] | null
  daily_cap: number | null
  sender_domains: string[] | null
  expires_at: Date | null
  limits: Record<string, number>
  verified_sender_only: boolean
  has_quota: boolean
}

const Key = row<KeyRow>({
  id: text,
  account_id: text,
  name: text,
  mode: json(),
  scopes: json(),
  daily_cap: maybe(int),
  sender_domains: maybe(texts),
  expires_at: maybe(time),
  limits: json(),
  verified_sender_only: bool,
  has_quota: bool,
})

/** The key with what its account says about all calls: all that the gates need, in one look-up. */
export function findKeyByHash(db: Db, hash: Buffer) {
  return db.maybe(
    Key,
    sql`
    select k.id, k.account_id, k.name, k.mode, k.scopes, k.daily_cap, k.sender_domains, k.expires_at,
           coalesce((select jsonb_object_agg(l.operation, l.per_minute)
                       from account_limits l
                      where l.account_id = k.account_id), '{}') as limits,
           a.settings @> '{"require_verified_sender": true}' as verified_sender_only,
           a.monthly_quota is not null as has_quota
      from api_keys k
      join accounts a on a.id = k.account_id
     where k.hash = ${hash}
       and k.revoked_at is null`,
  )
}

export type ListedKey = {
  id: string
  account_id: string
  name: string
  prefix: string
  mode: 'live' | 'test'
  scopes: string[] | null
  daily_cap: number | null
  sender_domains: string[] | null
  created_at: Date
  expires_at: Date | null
  revoked_at: Date | null
}

const Listed = row<ListedKey>({
  id: text,
  account_id: text,
  name: text,
  prefix: text,
  mode: json(),
  scopes: maybe(texts),
  daily_cap: maybe(int),
  sender_domains: maybe(texts),
  created_at: time,
  expires_at: maybe(time),
  revoked_at: maybe(time),
})

export function listKeys(db: Db, accountId: string | undefined) {
  return db.many(
    Listed,
    sql`
    select id, account_id, name, prefix, mode, scopes, daily_cap, sender_domains,
           created_at, expires_at, revoked_at
      from api_keys
     where true ${when(accountId, (id) => sql`and account_id = ${id}`)}
     order by account_id, id`,
  )
}

export type NewKey = {
  id: string
  accountId: string
  name: string
  hash: Buffer
  prefix: string
  mode: 'live' | 'test'
  scopes: string[] | null
  dailyCap: number | null
  senderDomains: string[] | null
  expiresAt: Date | null
  isFirst: boolean
}

export function insertKey(db: Db, key: NewKey) {
  return db.run(sql`
    insert into api_keys
      (id, account_id, name, hash, prefix, mode, scopes, daily_cap, sender_domains, expires_at, is_first)
    values
      (${key.id}, ${key.accountId}, ${key.name}, ${key.hash}, ${key.prefix}, ${key.mode}, ${key.scopes},
       ${key.dailyCap}, ${key.senderDomains}, ${key.expiresAt}, ${key.isFirst})`)
}

/** By the key's id, by the first characters that lists show, or by the whole of it. */
export function findActiveKeys(db: Db, by: { id: string | undefined; prefix: string; hash: Buffer }) {
  return db.many(
    Listed,
    sql`
    -- all accounts: the operator names a key, whoever owns it
    select id, account_id, name, prefix, mode, scopes, daily_cap, sender_domains,
           created_at, expires_at, revoked_at
      from api_keys
     where (id = ${by.id ?? null} or prefix = ${by.prefix} or hash = ${by.hash})
       and revoked_at is null
       for update`,
  )
}

export type KeyBounds = Pick<ListedKey, 'name' | 'scopes' | 'daily_cap' | 'sender_domains' | 'expires_at'>

export function updateKey(db: Db, id: string, to: KeyBounds) {
  return db.run(sql`
    -- all accounts: the operator names a key, whoever owns it
    update api_keys
       set name = ${to.name}, scopes = ${to.scopes}, daily_cap = ${to.daily_cap},
           sender_domains = ${to.sender_domains}, expires_at = ${to.expires_at}
     where id = ${id}`)
}

export function revokeKey(db: Db, id: string) {
  return db.run(sql`
    -- all accounts: the operator names a key, whoever owns it
    update api_keys set revoked_at = now() where id = ${id} and revoked_at is null`)
}

const Owner = row<{ id: string; account_id: string; is_first: boolean; hash: Buffer }>({
  id: text,
  account_id: text,
  is_first: bool,
  hash: bytes,
})

export function findKeyOwner(db: Db, hash: Buffer) {
  return db.maybe(Owner, sql`select id, account_id, is_first, hash from api_keys where hash = ${hash}`)
}

export function replaceFirstKeys(db: Db, accountId: string, keep: Buffer) {
  return db.run(sql`
    update api_keys
       set revoked_at = now()
     where account_id = ${accountId}
       and is_first
       and hash <> ${keep}
       and revoked_at is null`)
}

/** The first key is unrestricted on every start, whatever was done to it since. */
export function restoreFirstKey(db: Db, accountId: string, hash: Buffer) {
  return db.run(sql`
    update api_keys
       set is_first = true, revoked_at = null, expires_at = null, scopes = null, daily_cap = null,
           sender_domains = null
     where account_id = ${accountId}
       and hash = ${hash}`)
}
