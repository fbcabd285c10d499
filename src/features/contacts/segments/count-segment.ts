import type { Db } from '../../../kernel/db.ts'
import { countContacts } from '../contacts/queries.ts'
import { type Condition, isColumn } from './condition-queries.ts'
import { accountsToFold, foldAttributeCounts, readSegmentCount } from './count-queries.ts'

export async function countSegment(db: Db, accountId: string, condition: Condition): Promise<number> {
  const kept = isColumn(condition.attribute) ? undefined : await readSegmentCount(db, accountId, condition)
  return kept?.is_counted ? kept.count : (await countContacts(db, accountId, { segment: condition })).count
}

export async function foldCounts(db: Db): Promise<void> {
  for (const { account_id } of await accountsToFold(db)) await foldAttributeCounts(db, account_id)
}
