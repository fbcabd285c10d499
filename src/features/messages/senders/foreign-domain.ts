// Whether an address is on a domain that another account has verified and its own has not. An upstream that signs by
// itself knows no accounts: it would sign for whoever asks.
import { LRUCache } from 'lru-cache'
import type { Db } from '../../../kernel/db.ts'
import { domainOf } from '../../../kernel/email-address.ts'
import { gather } from '../../../kernel/gather.ts'
import { findForeign, type NamedRef, type SenderRef } from './queries.ts'

export type IsForeign = (ref: SenderRef) => Promise<boolean>

// What every process sees of a change after this time at the latest.
const keptMs = 2_000
const most = 2_000

export function foreignDomains(db: Db): IsForeign {
  const look = gather(async (refs: NamedRef[]) => {
    const foreign = new Set((await findForeign(db, refs)).map(({ n }) => n))
    return refs.map((_, n) => foreign.has(n))
  })
  const known = new LRUCache<string, { is: boolean }, SenderRef>({
    max: most,
    ttl: keptMs,
    fetchMethod: async (_key, _stale, { context }) => ({ is: await look(named(context)) }),
  })
  return async ({ accountId, email: given }) => {
    const email = given.toLowerCase()
    return (await known.fetch(`${accountId} ${email}`, { context: { accountId, email } }))?.is ?? false
  }
}

/** A signature of a domain above passes for those below. */
function named(ref: SenderRef): NamedRef {
  const labels = domainOf(ref.email).split('.')
  return { ...ref, names: labels.map((_, from) => labels.slice(from).join('.')) }
}
