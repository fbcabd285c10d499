// The delay of a step holds for whoever waits for it already: it counts from when the step before it left, and who is
// away rests as long as before.
import type { Db } from '../../../kernel/db.ts'
import {
  holdHanding,
  listWaitingFor,
  type Portion,
  storeDue,
  type WaitingFor,
} from '../enrollments/waiting-queries.ts'
import { daysLater } from '../planning/windows.ts'
import type { SequenceFields } from './sequence.ts'

type Fields = Pick<SequenceFields, 'steps' | 'schedule'>
type Change = { before: Fields; now: Fields }

const portion = 1_000

/** After the sequence was changed, in the same transaction. */
export async function applyDelays(
  db: Db,
  ref: { accountId: string; sequenceId: string },
  change: Change,
): Promise<void> {
  const { now } = change
  const { timezone } = now.schedule
  const steps = changedSteps(change)
  if (steps.length === 0) return
  await holdHanding(db, ref)
  const next: Portion = { steps, after: '0', limit: portion }
  for (let found = portion; found === portion; ) {
    const waiting = await listWaitingFor(db, ref, next)
    await storeDue(
      db,
      ref,
      waiting.map((one) => ({
        prospectId: one.prospect_id,
        step: one.next_step,
        dueAt: dueOf(one, timezone, now.steps[one.next_step]?.delayDays ?? 0),
      })),
    )
    next.after = waiting.at(-1)?.prospect_id ?? next.after
    found = waiting.length
  }
}

const changedSteps = ({ before, now }: Change): number[] =>
  now.steps.flatMap(({ delayDays }, at) => (at > 0 && delayDays !== before.steps[at]?.delayDays ? [at] : []))

const dueOf = ({ left_at, rests_until }: WaitingFor, timezone: string, days: number): Date => {
  const due = daysLater(timezone, left_at, days)
  return rests_until !== null && rests_until > due ? rests_until : due
}
