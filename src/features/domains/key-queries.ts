// The keys that were made for declared domains; those stored by hand have no public half here and are left alone.
import type { Db } from '../../kernel/db.ts'
import { bool, maybe, row, text, time } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import type { KeyStage, OwnKey } from './model.ts'
import type { DomainRef } from './queries.ts'

const Key = row<OwnKey>({
  selector: text,
  publicKey: text,
  signs: bool,
  stage: text as never,
  retiredAt: maybe(time),
})

export function listOwnKeys(db: Db, { accountId, domain }: DomainRef) {
  return db.many(
    Key,
    sql`
    select selector, public_key as "publicKey", signs, stage, retired_at as "retiredAt"
      from dkim_keys
     where account_id = ${accountId} and domain = ${domain} and public_key is not null
     order by created_at, selector`,
  )
}

export type NewKey = { selector: string; publicKey: string; sealed: Buffer; stage: KeyStage }

/** It signs once it was seen in DNS. */
export function insertOwnKey(db: Db, { accountId, domain }: DomainRef, key: NewKey, at: Date) {
  return db.run(sql`
    insert into dkim_keys (account_id, domain, selector, private_key, public_key, signs, stage, created_at)
    values (${accountId}, ${domain}, ${key.selector}, ${key.sealed}, ${key.publicKey}, false, ${key.stage}, ${at})`)
}

export function updateOwnKey(db: Db, { accountId, domain }: DomainRef, key: OwnKey) {
  return db.run(sql`
    update dkim_keys
       set signs = ${key.signs}, stage = ${key.stage}, retired_at = ${key.retiredAt}
     where account_id = ${accountId} and domain = ${domain} and selector = ${key.selector}`)
}

export function deleteOwnKey(db: Db, { accountId, domain }: DomainRef, selector: string) {
  return db.run(sql`
    delete from dkim_keys
     where account_id = ${accountId} and domain = ${domain} and selector = ${selector}
       and public_key is not null`)
}

export function deleteOwnKeys(db: Db, { accountId, domain }: DomainRef) {
  return db.run(sql`
    delete from dkim_keys
     where account_id = ${accountId} and domain = ${domain} and public_key is not null`)
}
