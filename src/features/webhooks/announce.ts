// Events that no message and no contact brings about.
import type { Db } from '../../kernel/db.ts'
import { announceTo } from './delivery-queries.ts'
import { payloadWords } from './events.ts'

export type Announcement = {
  accountId: string
  /** The word that webhooks subscribe with. */
  event: 'domainBroken'
  /** What the payload says beside id, event, key, date and ts, such as `{ domain, reason }`. Nothing about a person. */
  data: Record<string, unknown>
  at: Date
}

/**
 * Tells every webhook of the account that asks for the event. Called in the transaction that records it: the calls go
 * out when that commits, and not at all when it does not. A feature that stands before this one gets it from src/main.
 */
export async function announce(db: Db, { accountId, event, data, at }: Announcement): Promise<void> {
  const word = payloadWords[event] ?? event
  await announceTo(db, { accountId, word: event, event: word, data, at })
}
