// The ends that a sequence comes to for a prospect before its last step, and its rests.
import type { Db } from '../../../kernel/db.ts'
import {
  type EnrollmentRef,
  type ProspectRef,
  postponeOfProspect,
  postponeOne,
  stopOfProspects,
  stopOne,
} from './stop-queries.ts'

export const stopReasons = [
  'replied',
  'refused',
  'unsubscribed',
  'suppressed',
  'bounced',
  'complained',
  'undeliverable',
  'template',
  'mailbox_deleted',
  'sequence_stopped',
  'sequence_finished',
  'manual',
] as const
export type StopReason = (typeof stopReasons)[number]

/** In all sequences. */
export function stopProspect(
  db: Db,
  { accountId, prospectId }: ProspectRef,
  reason: StopReason,
  at: Date,
): Promise<number> {
  return stopOfProspects(db, accountId, [prospectId], { reason, at })
}

export function stopEnrollment(db: Db, ref: EnrollmentRef, reason: StopReason, at: Date): Promise<number> {
  return stopOne(db, ref, { reason, at })
}

/** In all sequences, and those that they may come back to: who is away for one is away for the others. */
export function postponeProspect(db: Db, ref: ProspectRef, until: Date): Promise<number> {
  return postponeOfProspect(db, ref, until)
}

/** The next step goes at that time or later; it stays enrolled. */
export function postponeEnrollment(db: Db, ref: EnrollmentRef, until: Date): Promise<number> {
  return postponeOne(db, ref, until)
}
