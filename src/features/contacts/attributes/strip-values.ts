// Values leave contacts with their attribute or choice: at once where few have them, else in the background, since no
// request may take as long as a million contacts need.
import type { Ctx } from '../../../kernel/ctx.ts'
import type { Db } from '../../../kernel/db.ts'
import { invalidParameter } from '../../../kernel/refusals.ts'
import {
  claimRemoval,
  endRemoval,
  insertRemoval,
  isBeingStripped,
  moveRemoval,
  type Removal,
  stripValues,
} from './strip-queries.ts'

const atOnce = 5_000

export async function removeValues({ db, caller }: Ctx, given: Omit<Removal, 'accountId'>): Promise<void> {
  const removal = { ...given, accountId: caller.accountId }
  const { found, last } = await stripValues(db, removal, { after: '0', limit: atOnce })
  if (found === atOnce) await insertRemoval(db, removal, last)
}

/** What is written to it now would be taken away with the rest. */
export async function refuseWhileStripped({ db, caller }: Ctx, name: string): Promise<void> {
  const { is_pending } = await isBeingStripped(db, caller.accountId, name)
  if (!is_pending) return
  throw invalidParameter({
    message: `The former values of ${name} are still being taken away from contacts: try again in a minute`,
    param: 'attributeName',
  })
}

export async function stripRemoved(db: Db, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted && (await db.transaction(stripSome)));
}

/** Whether there was something to do. */
async function stripSome(tx: Db): Promise<boolean> {
  const row = await claimRemoval(tx)
  if (!row) return false
  const removal = { accountId: row.account_id, name: row.name, choices: row.choices }
  const { found, last } = await stripValues(tx, removal, { after: row.done_to, limit: atOnce })
  if (found === atOnce) await moveRemoval(tx, row, last)
  else await endRemoval(tx, row)
  return true
}
