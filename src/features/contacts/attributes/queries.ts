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
