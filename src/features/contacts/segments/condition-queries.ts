// Who is in a segment, said in SQL about contacts under the name c. Values travel as parameters, and are compared by
// the type that they have: a contact whose value is of another type is not in the segment, and breaks nothing.
import { type Sql, sql } from '../../../kernel/sql.ts'
import type { Value } from '../attributes/values.ts'

export const operators = [
  'eq',
  'neq',
  'contains',
  'gt',
  'lt',
  'before',
  'after',
  'is_set',
  'is_not_set',
  'in',
] as const
export type Operator = (typeof operators)[number]

/** `value`: in the form in which contacts have it; a list for `in`, null where there is nothing to compare with. */
export type Condition = {
  attribute: string
  operator: Operator
  value: Value | Value[] | null
  /** The attribute is no more: nobody is in the segment, where neq and is_not_set would take everybody in. */
  isOrphan?: boolean
}

export function inSegment(condition: Condition): Sql {
  if (condition.isOrphan) return sql`false`
  const column = columns[condition.attribute]
  return column ? byColumn(column, condition) : byAttribute(condition)
}

// Two attributes have columns of their own, and indexes.
const columns: Record<string, Sql | undefined> = { EMAIL: sql`c.email`, SMS: sql`c.sms` }

export const isColumn = (attribute: string) => columns[attribute] !== undefined

/** Of segments under the name s. */
export const isOrphan = sql`
  (s.attribute <> all(${Object.keys(columns)}::text[])
   and not exists (select 1
                     from contact_attributes a
                    where a.account_id = s.account_id and a.name = s.attribute))`

function byColumn(column: Sql, { operator, value }: Condition): Sql {
  switch (operator) {
    case 'is_set':
      return sql`${column} is not null`
    case 'is_not_set':
      return sql`${column} is null`
    case 'neq':
      return sql`${column} is distinct from ${value}`
    case 'contains':
      return sql`position(lower(${value}::text) in ${column}) > 0`
    default:
      return sql`${column} = any(${[value].flat()}::text[])`
  }
}

function byAttribute({ attribute, operator, value }: Condition): Sql {
  const held = sql`(c.attributes -> ${attribute}::text)`
  switch (operator) {
    case 'is_set':
      return isSet(held)
    case 'is_not_set':
      return sql`not ${isSet(held)}`
    case 'eq':
      return equals(held, value)
    case 'neq':
      return sql`not coalesce(${equals(held, value)}, false)`
    case 'contains':
      return contains(held, value)
    case 'in':
      return isOneOf(held, [value].flat())
    default:
      return isBeyond(held, operator === 'gt' || operator === 'after', value)
  }
}

function isSet(held: Sql): Sql {
  return sql`(coalesce(${held}, 'null') not in ('null', '[]'))`
}

function equals(held: Sql, value: unknown): Sql {
  const json = JSON.stringify(value)
  // A choice of several has no order.
  if (Array.isArray(value)) return sql`(${held} @> ${json}::jsonb and ${held} <@ ${json}::jsonb)`
  return sql`(${held} = ${json}::jsonb)`
}

function contains(held: Sql, value: unknown): Sql {
  if (Array.isArray(value)) return sql`(${held} @> ${JSON.stringify(value)}::jsonb)`
  return sql`(jsonb_typeof(${held}) = 'string'
              and position(lower(${value}::text) in lower(${held} #>> '{}')) > 0)`
}

function isOneOf(held: Sql, values: unknown[]): Sql {
  // Both a text that is one of these and a choice that has one of them.
  if (values.every((value) => typeof value === 'string'))
    return sql`jsonb_exists_any(${held}, ${values}::text[])`
  return sql`(${held} = any(${values.map((value) => JSON.stringify(value))}::jsonb[]))`
}

function isBeyond(held: Sql, isAbove: boolean, value: unknown): Sql {
  if (typeof value === 'number') {
    const than = sql`${JSON.stringify(value)}::jsonb`
    return sql`(jsonb_typeof(${held}) = 'number' and ${isAbove ? sql`${held} > ${than}` : sql`${held} < ${than}`})`
  }
  // Days, whose order is that of their letters.
  const day = sql`(${held} #>> '{}') collate "C"`
  return sql`(jsonb_typeof(${held}) = 'string'
              and ${isAbove ? sql`${day} > ${value}::text` : sql`${day} < ${value}::text`})`
}
