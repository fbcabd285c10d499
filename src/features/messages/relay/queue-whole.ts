// One relayed message has one answer for all its recipients: each group is queued whole or not at all.
import { assumptionFailed, type Db } from '../../../kernel/db.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import { type Outgoing, type Queued, queueMessages } from '../queue-messages.ts'
import { closeSavepoint, openSavepoint, rollBackToSavepoint } from './queries.ts'

export type Group = Outgoing[]

/** Inside a transaction. */
export async function queueWhole(db: Db, groups: Group[]): Promise<(Queued[] | Refusal)[]> {
  if (groups.length === 0) return []
  const canTear = !db.optimistic && groups.some(({ length }) => length > 1)
  if (canTear) await openSavepoint(db)
  const going = groups.length === 1 ? 'together' : 'singly'
  const results = regroup(groups, await queueMessages(db, groups.flat(), going))
  const isTorn = results.some((results) => results.some(isRefusal) && !results.every(isRefusal))
  if (isTorn && db.optimistic) throw assumptionFailed()
  if (isTorn) await rollBackToSavepoint(db)
  const whole = isTorn && groups.length > 1 ? await queueOneByOne(db, groups) : results.map(refusalOr)
  if (canTear) await closeSavepoint(db)
  return whole
}

/** In the order of keys, as everything that counts against caps goes, so that nobody waits for each other. */
async function queueOneByOne(db: Db, groups: Group[]): Promise<(Queued[] | Refusal)[]> {
  const done = new Map<Group, Queued[] | Refusal>()
  for (const group of [...groups].sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))) {
    const [result] = await queueWhole(db, [group])
    if (result) done.set(group, result)
  }
  return groups.flatMap((group) => [done.get(group) ?? []])
}

function orderOf([first]: Group): string {
  return first ? `${first.caller.accountId.padStart(20, '0')} ${first.caller.keyId}` : ''
}

function regroup(groups: Group[], results: (Queued | Refusal)[]): (Queued | Refusal)[][] {
  let at = 0
  return groups.map(({ length }) => {
    at += length
    return results.slice(at - length, at)
  })
}

const isRefusal = (result: Queued | Refusal): result is Refusal => result instanceof Refusal

function refusalOr(results: (Queued | Refusal)[]): Queued[] | Refusal {
  return results.find(isRefusal) ?? results.filter((result): result is Queued => !isRefusal(result))
}
