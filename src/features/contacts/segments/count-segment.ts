import type { Db } from '../../../kernel/db.ts'
import { countContacts } from '../contacts/queries.ts'
import { type Condition, isColumn } from './condition-queries.ts'
import {
  accountsToFold,
  countPortion,
  findBegun,
  foldAttributeCounts,
  lockCounts,
  readSegmentCount,
} from './count-queries.ts'

export async function countSegment(db: Db, accountId: string, condition: Condition): Promise<number> {
  const kept = isColumn(condition.attribute) ? undefined : await readSegmentCount(db, accountId, condition)
  return kept?.is_counted ? kept.count : (await countContacts(db, accountId, { segment: condition })).count
}

export async function foldCounts(db: Db): Promise<void> {
  for (const { account_id } of await accountsToFold(db)) await foldAttributeCounts(db, account_id)
}

/** Goes on with the attributes that segments began to ask about; writers wait for a portion, never for all. */
export async function countBegun(db: Db, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted && (await db.transaction(countSome)));
}

/** Whether there was something to do. */
async function countSome(tx: Db): Promise<boolean> {
  const begun = await findBegun(tx)
  if (!begun) return false
  const { account_id: accountId, name } = begun
  await lockCounts(tx, accountId)
  await countPortion(tx, { accountId, name })
  return true
}
