// Between the claim of a message and its turn people leave, are suppressed or erased: a slow upstream keeps what a
// worker has claimed waiting for a good part of the lease.
import type { Db } from '../../kernel/db.ts'
import { type DueRow, loadDue } from './delivery-queries.ts'

// As long as a pause may go unnoticed. A fast upstream has its turn before, and asking again would slow it down.
const freshMs = 1_000

/** `askedAt`: by performance.now(), when it was last asked whether it may go. */
export type Asked = DueRow & { askedAt: number }

/** Gives whether anything stands against it that did not when it was claimed. */
export async function askAgain(db: Db, due: Asked): Promise<boolean> {
  const askedAt = performance.now()
  if (askedAt - due.askedAt < freshMs) return false
  const before = namesOf(due)
  const found = await db.gathered(loadAgain, due.id)
  const { status, suppressed, is_erased, is_contact_gone, attributes } = found ?? {
    ...due,
    status: 'cancelled' as const,
  }
  Object.assign(due, { askedAt, status, suppressed, is_erased, is_contact_gone, attributes })
  return namesOf(due) !== before
}

const namesOf = ({ status, suppressed, is_erased, is_contact_gone }: DueRow) =>
  JSON.stringify([status === 'queued' || status === 'held', suppressed, is_erased, is_contact_gone])

async function loadAgain(db: Db, ids: string[]): Promise<(DueRow | undefined)[]> {
  const found = await db.byKeys((tx) => loadDue(tx, ids))
  const known = new Map(found.map((due) => [due.id, due]))
  return ids.map((id) => known.get(id))
}
