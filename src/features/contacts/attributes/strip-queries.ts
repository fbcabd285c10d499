import type { Db } from '../../../kernel/db.ts'
import { bool, int, json, row, text } from '../../../kernel/row.ts'
import { type Sql, sql } from '../../../kernel/sql.ts'

/** Of an attribute all values, or these: numbers of a category, or texts of a multiple choice. */
export type Removal = { accountId: string; name: string; choices: number[] | string[] | null }

/** Who has something of it, and what is left then. */
function partsOf({ name, choices }: Removal): { has: Sql; left: Sql } {
  const value = sql`(attributes -> ${name}::text)`
  const without = sql`attributes - ${name}::text`
  if (choices === null) return { has: sql`attributes ? ${name}::text`, left: without }
  const isOption = typeof choices[0] === 'string'
  const wanted = choices.map((one) => JSON.stringify(isOption ? [one] : one))
  if (!isOption) return { has: sql`${value} = any(${wanted}::jsonb[])`, left: without }
  const rest = sql`${value} - ${choices}::text[]`
  return {
    has: sql`${value} @> any(${wanted}::jsonb[])`,
    // Who had no other has none of it any more.
    left: sql`case when ${rest} = '[]' then ${without} else jsonb_set(attributes, array[${name}::text], ${rest}) end`,
  }
}

const Stripped = row<{ found: number; last: string }>({ found: int, last: text })

/** Takes the values away from the next so many contacts that have them. */
export function stripValues(db: Db, removal: Removal, { after, limit }: { after: string; limit: number }) {
  const { has, left } = partsOf(removal)
  return db.one(
    Stripped,
    sql`
    with page as materialized (
      select id from contacts
       where account_id = ${removal.accountId} and id > ${after} and ${has}
       order by id
       limit ${limit}),
    stripped as (
      update contacts c set attributes = ${left}
        from page p
       where c.account_id = ${removal.accountId} and c.id = p.id)
    select count(*)::int as found, coalesce(max(id), ${after}::bigint) as last from page`,
  )
}

export function insertRemoval(db: Db, { accountId, name, choices }: Removal, doneTo: string) {
  return db.run(sql`
    insert into attribute_removals (account_id, name, choices, done_to)
    values (${accountId}, ${name}, ${choices === null ? null : JSON.stringify(choices)}, ${doneTo})`)
}

const Pending = row<{ is_pending: boolean }>({ is_pending: bool })

export function isBeingStripped(db: Db, accountId: string, name: string) {
  return db.one(
    Pending,
    sql`
    select exists (select from attribute_removals where account_id = ${accountId} and name = ${name}) as is_pending`,
  )
}

type RemovalRow = {
  id: string
  account_id: string
  name: string
  choices: Removal['choices']
  done_to: string
}

const RemovalOf = row<RemovalRow>({ id: text, account_id: text, name: text, choices: json(), done_to: text })

export function claimRemoval(db: Db) {
  return db.maybe(
    RemovalOf,
    sql`
    -- all accounts: the job works for each of them
    select id, account_id, name, choices, done_to
      from attribute_removals
     order by id
     limit 1
       for update skip locked`,
  )
}

export function moveRemoval(db: Db, { id, account_id }: RemovalRow, doneTo: string) {
  return db.run(sql`
    update attribute_removals set done_to = ${doneTo} where account_id = ${account_id} and id = ${id}`)
}

export function endRemoval(db: Db, { id, account_id }: RemovalRow) {
  return db.run(sql`delete from attribute_removals where account_id = ${account_id} and id = ${id}`)
}
