// The plan of one account: what the database has of it, given to the planner. Never more rows than there is room for
// before the horizon, however many are enrolled.
import type { Db } from '../../../kernel/db.ts'
import { failsAfter } from '../mailboxes/health.ts'
import { limitOn } from '../mailboxes/ramp.ts'
import { type FollowUp, type PlanMailbox, type Planned, type PlanSequence, planSends } from './plan.ts'
import {
  accountsToPlan,
  firstSteps,
  followUpSteps,
  lockPlanning,
  type MailboxToPlan,
  mailboxDays,
  mailboxesToPlan,
  type PlannedRow,
  plannedRows,
  sequenceDays,
  sequencesToPlan,
  storeMoments,
  type WaitingRow,
} from './queries.ts'
import { nextUtcDay, startOfUtcDay } from './slots.ts'
import { dayIn, utcDay } from './windows.ts'

const dayMs = 86_400_000

type Wanted = { now: Date; aheadMs: number; asIfRunning?: string }

export type AccountPlan = { planned: Planned[]; mailboxes: MailboxToPlan[]; before: PlannedRow[] }

export async function planAccount(db: Db, accountId: string, wanted: Wanted): Promise<AccountPlan> {
  const now = wanted.now.getTime()
  const until = now + wanted.aheadMs
  const before = await plannedRows(db, accountId)
  const { mailboxes, found } = await readMailboxes(db, accountId, { ...wanted, before })
  const sequences = await readSequences(db, accountId, { ...wanted, before })
  // A day more: what is due later on the last day has its place reserved.
  const dueBefore = new Date(until + dayMs)
  const rooms = new Map(mailboxes.map((one) => [one.id, roomOf(one, now, until)]))
  const firsts = await firstSteps(db, accountId, sequences.map(mostOf(rooms)), dueBefore)
  // Those of a mailbox that fails wait until it is mended; of one that is only being read they keep their places.
  const readable = found.filter(({ imap_failures }) => imap_failures < failsAfter)
  const most = readable.map(({ id }) => ({ id, most: rooms.get(id) ?? 0 }))
  const sequenceIds = sequences.map(({ id }) => id)
  const followUps = await followUpSteps(db, accountId, { mailboxes: most, sequenceIds }, dueBefore)
  const planned = planSends({
    now,
    until,
    mailboxes,
    sequences,
    firsts: firsts.map(waitingOf),
    followUps: followUps.map((one): FollowUp => ({ ...waitingOf(one), mailboxId: one.mailbox_id ?? '' })),
  })
  return { planned, mailboxes: found, before }
}

const waitingOf = (one: WaitingRow) => ({
  sequenceId: one.sequence_id,
  prospectId: one.prospect_id,
  step: one.next_step,
  dueAt: one.due_at.getTime(),
})

/** How many a mailbox can send until then. */
function roomOf(mailbox: PlanMailbox, now: number, until: number): number {
  let room = 0
  const begun = { ...mailbox, first_day: mailbox.first_day ?? utcDay(now) }
  for (let day = startOfUtcDay(now); day < until; day = nextUtcDay(day)) room += limitOn(begun, day)
  return room
}

const mostOf =
  (rooms: Map<string, number>) =>
  ({ id, mailboxIds }: PlanSequence) => ({
    id,
    most: mailboxIds.reduce((sum, mailboxId) => sum + (rooms.get(mailboxId) ?? 0), 0),
  })

async function readMailboxes(
  db: Db,
  accountId: string,
  { now, asIfRunning, before }: Wanted & { before: PlannedRow[] },
) {
  const found = await mailboxesToPlan(db, accountId, now)
  const days = await mailboxDays(db, accountId, utcDay(now.getTime()))
  const mailboxes = found.map((one): PlanMailbox => {
    const mine = before.filter(({ mailbox_id }) => mailbox_id === one.id)
    const used = new Map(days.filter(({ id }) => id === one.id).map(({ day, sent }) => [day, sent]))
    for (const { planned_at } of mine) add(used, utcDay(planned_at.getTime()))
    const taken = new Set(mine.map(({ planned_at }) => planned_at.getTime()))
    // What is foreseen is what will be when it was read.
    const isHeard = asIfRunning !== undefined || one.is_read
    // Of what has its moment already, where nothing left yet.
    const first_day = one.first_day ?? (mine[0] ? utcDay(mine[0].planned_at.getTime()) : null)
    return {
      ...one,
      first_day,
      isHeard,
      used,
      taken,
      lastAt: Math.max(one.last_at?.getTime() ?? 0, ...taken),
    }
  })
  return { mailboxes, found }
}

async function readSequences(
  db: Db,
  accountId: string,
  { now, asIfRunning, before }: Wanted & { before: PlannedRow[] },
): Promise<PlanSequence[]> {
  const found = await sequencesToPlan(db, accountId, asIfRunning)
  // The day of a zone may be the one before.
  const days = await sequenceDays(db, accountId, utcDay(now.getTime() - dayMs))
  return found.map((one) => {
    const used = new Map(days.filter(({ id }) => id === one.id).map(({ day, sent }) => [day, sent]))
    for (const { sequence_id, planned_at } of before)
      if (sequence_id === one.id) add(used, dayIn(one.schedule.timezone, planned_at))
    return {
      id: one.id,
      schedule: one.schedule,
      mailboxIds: one.mailbox_ids,
      dailyLimit: one.daily_limit,
      used,
    }
  })
}

const add = (used: Map<string, number>, day: string) => used.set(day, (used.get(day) ?? 0) + 1)

// Short, so that whatever changes in the meantime, an answer or a follow-up falling due, is in the next plan.
const aheadMs = 5 * 60_000

/** Gives every account's next messages their moments. Not to be called inside a transaction. */
export async function planAll(db: Db, now: Date, stopping?: AbortSignal): Promise<void> {
  const faults: unknown[] = []
  for (const { account_id } of await accountsToPlan(db)) {
    if (stopping?.aborted) return
    // One account that cannot be planned must not keep the others.
    await planNext(db, account_id, now).catch((error) => faults.push(error))
  }
  if (faults.length > 0) throw faults[0]
}

function planNext(db: Db, accountId: string, now: Date): Promise<void> {
  return db.transaction(async (tx) => {
    await lockPlanning(tx, accountId)
    const { planned } = await planAccount(tx, accountId, { now, aheadMs })
    if (planned.length > 0) await storeMoments(tx, accountId, planned)
  })
}
