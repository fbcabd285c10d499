import type { Db } from '../../../kernel/db.ts'
import type { SequenceRef } from './queries.ts'

export type ReplyCounts = {
  interested: number
  refusal: number
  absence: number
  unsubscribe: number
  unclassified: number
}

/** Answers by class. The inbox has none to count yet. */
export async function countReplies(_db: Db, _ref: SequenceRef): Promise<ReplyCounts> {
  return { interested: 0, refusal: 0, absence: 0, unsubscribe: 0, unclassified: 0 }
}
