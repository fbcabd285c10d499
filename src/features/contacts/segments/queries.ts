import type { Db } from '../../../kernel/db.ts'
import { bool, int, json, row, text, time } from '../../../kernel/row.ts'
import { sql, when } from '../../../kernel/sql.ts'
import type { Slice } from '../../../kernel/v3/paging.ts'
import { type Condition, isOrphan } from './condition-queries.ts'

export type SegmentRow = Omit<Condition, 'isOrphan'> & {
  id: string
  is_orphan: boolean
  name: string
  category_name: string
  updated_at: Date
}

const Segment = row<SegmentRow>({
  id: text,
  is_orphan: bool,
  name: text,
  category_name: text,
  attribute: text,
  operator: json(),
  value: json(),
  updated_at: time,
})

const columns = sql`
  s.id, s.name, s.category_name, s.attribute, s.operator, s.value, s.updated_at, ${isOrphan} as is_orphan`

export function findSegment(db: Db, accountId: string, id: number) {
  return db.maybe(
    Segment,
    sql`select ${columns} from segments s where s.account_id = ${accountId} and s.id = ${id}`,
  )
}

/** Nobody else changes it until the transaction ends. */
export function lockSegment(db: Db, accountId: string, id: number) {
  return db.maybe(
    Segment,
    sql`select ${columns} from segments s where s.account_id = ${accountId} and s.id = ${id} for update`,
  )
}

export function listSegments(db: Db, accountId: string, slice: Slice) {
  return db.many(
    Segment,
    sql`
    select ${columns}
      from segments s
     where s.account_id = ${accountId}
       ${when(slice.after, (after) => (slice.ascending ? sql`and id > ${after}` : sql`and id < ${after}`))}
     order by ${slice.ascending ? sql`id` : sql`id desc`}
     limit ${slice.limit}
    offset ${slice.offset}`,
  )
}

const Count = row<{ count: number }>({ count: int })

export function countSegments(db: Db, accountId: string) {
  return db.one(Count, sql`select count(*)::int as count from segments where account_id = ${accountId}`)
}

const Using = row<{ id: string; name: string; total: number }>({ id: text, name: text, total: int })

/** The first of the segments that ask about an attribute, or about one of these values of it. */
export function listSegmentsUsing(
  db: Db,
  accountId: string,
  attribute: string,
  values: (string | number)[] | undefined,
) {
  const named = (list: (string | number)[]) =>
    sql`and value @> any(${list.map((one) => JSON.stringify(one))}::jsonb[])`
  return db.many(
    Using,
    sql`
    select id, name, count(*) over ()::int as total
      from segments
     where account_id = ${accountId}
       and attribute = ${attribute}
       ${when(values, named)}
     order by id
     limit 3`,
  )
}

const Id = row<{ id: string }>({ id: text })

export type SegmentFields = Omit<SegmentRow, 'id' | 'is_orphan' | 'updated_at'>

export function insertSegment(db: Db, accountId: string, one: SegmentFields, at: Date) {
  return db.one(
    Id,
    sql`
    insert into segments
      (account_id, name, category_name, attribute, operator, value, created_at, updated_at)
    values (${accountId}, ${one.name}, ${one.category_name}, ${one.attribute}, ${one.operator},
            nullif(${JSON.stringify(one.value)}::jsonb, 'null'), ${at}, ${at})
    returning id`,
  )
}

export function updateSegment(
  db: Db,
  { accountId, id }: { accountId: string; id: string },
  one: SegmentFields,
  at: Date,
) {
  return db.run(sql`
    update segments
       set name = ${one.name}, category_name = ${one.category_name}, attribute = ${one.attribute},
           operator = ${one.operator}, value = nullif(${JSON.stringify(one.value)}::jsonb, 'null'),
           updated_at = ${at}
     where account_id = ${accountId}
       and id = ${id}`)
}

export function deleteSegment(db: Db, accountId: string, id: number) {
  return db.run(sql`delete from segments where account_id = ${accountId} and id = ${id}`)
}
