import type { Db } from '../../../kernel/db.ts'
import { json, maybe, row, text, texts } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import type { Attribute } from './values.ts'

export type AttributeRow = Attribute & { formula: string | null }

const OneAttribute = row<AttributeRow>({
  name: text,
  category: json(),
  type: json(),
  enumeration: json(),
  options: maybe(texts),
  formula: maybe(text),
})

export function listAttributes(db: Db, accountId: string) {
  return db.many(
    OneAttribute,
    sql`
    select name, category, type, enumeration, options, formula
      from contact_attributes
     where account_id = ${accountId}
     order by created_at, name`,
  )
}

/** Nobody deletes or changes it until the transaction ends. */
export function holdAttribute(db: Db, accountId: string, name: string) {
  return db.run(sql`
    select 1 from contact_attributes where account_id = ${accountId} and name = ${name} for share`)
}

/** Nor does anybody begin to use it. */
export function lockAttribute(db: Db, accountId: string, name: string) {
  return db.run(sql`
    select 1 from contact_attributes where account_id = ${accountId} and name = ${name} for update`)
}

export function insertAttribute(db: Db, accountId: string, one: AttributeRow, at: Date) {
  return db.run(sql`
    insert into contact_attributes (account_id, name, category, type, enumeration, options, formula, created_at)
    values (${accountId}, ${one.name}, ${one.category}, ${one.type},
            ${one.enumeration === null ? null : JSON.stringify(one.enumeration)}, ${one.options}, ${one.formula}, ${at})
    on conflict (account_id, name) do nothing`)
}

export function updateAttribute(db: Db, accountId: string, one: AttributeRow) {
  return db.run(sql`
    update contact_attributes
       set enumeration = ${one.enumeration === null ? null : JSON.stringify(one.enumeration)},
           options = ${one.options}, formula = ${one.formula}
     where account_id = ${accountId}
       and name = ${one.name}`)
}

export function deleteAttribute(db: Db, accountId: string, name: string) {
  return db.run(sql`delete from contact_attributes where account_id = ${accountId} and name = ${name}`)
}

export type Figures = {
  attribute: string
  count: string
  sum: string | null
  average: string | null
  min: string | null
  max: string | null
}

const FiguresOf = row<Figures>({
  attribute: text,
  count: text,
  sum: maybe(text),
  average: maybe(text),
  min: maybe(text),
  max: maybe(text),
})

/** Of each of these attributes over all contacts, who are read once for all of them. */
export function figuresOf(db: Db, accountId: string, names: string[]) {
  const isNumber = sql`jsonb_typeof(c.attributes -> n.name) = 'number'`
  const value = sql`(c.attributes ->> n.name)::numeric`
  return db.many(
    FiguresOf,
    sql`
    select n.name as attribute,
           count(c.attributes -> n.name)::text as count,
           sum(${value}) filter (where ${isNumber})::text as sum,
           avg(${value}) filter (where ${isNumber})::text as average,
           min(${value}) filter (where ${isNumber})::text as min,
           max(${value}) filter (where ${isNumber})::text as max
      from unnest(${names}::text[]) as n (name)
      left join contacts c on c.account_id = ${accountId} and c.attributes ? n.name
     group by n.name`,
  )
}

const State = row<{ state: string }>({ state: text })

/** How many contacts there are and when one last changed: two looks into indexes. */
export function stateOfContacts(db: Db, accountId: string) {
  return db.one(
    State,
    sql`
    select concat((select contacts from contact_counts where account_id = ${accountId} and list_id = 0), ' ',
                  (select max(modified_at) from contacts where account_id = ${accountId})) as state`,
  )
}
