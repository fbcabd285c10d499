import type { Db } from '../../../kernel/db.ts'
import { int, maybe, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import type { SequenceRef } from './queries.ts'

const States = row<{ state: string; reason: string | null; count: number }>({
  state: text,
  reason: maybe(text),
  count: int,
})

export function countEnrollments(db: Db, { accountId, id }: SequenceRef) {
  return db.many(
    States,
    sql`
    select state, reason, count(*)::int as count
      from outreach_enrollments
     where account_id = ${accountId} and sequence_id = ${id}
     group by state, reason
     order by state, reason`,
  )
}

const Messages = row<{ step: number; state: string; count: number }>({ step: int, state: text, count: int })

export function countMessages(db: Db, { accountId, id }: SequenceRef) {
  return db.many(
    Messages,
    sql`
    select step::int, state, count(*)::int as count
      from outreach_messages
     where account_id = ${accountId} and sequence_id = ${id} and step is not null
     group by step, state`,
  )
}
