import type { Db } from '../../../kernel/db.ts'
import { countClasses } from '../inbox/reply-queries.ts'
import type { SequenceRef } from './queries.ts'

export type ReplyCounts = {
  interested: number
  refusal: number
  absence: number
  unsubscribe: number
  unclassified: number
}

/** Answers by class. */
export async function countReplies(db: Db, { accountId, id }: SequenceRef): Promise<ReplyCounts> {
  const counts = { interested: 0, refusal: 0, absence: 0, unsubscribe: 0, unclassified: 0 }
  for (const { classification, count } of await countClasses(db, accountId, String(id)))
    counts[classification ?? 'unclassified'] = count
  return counts
}
