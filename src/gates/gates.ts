// What every call passes, whichever face it came through: key, scope, rate, validation, idempotency,
// the act itself and its line in the action log. The first three (admit) come before the body is read.

import type { AuditLine } from '../features/accounts/audit/audit-line.ts'
import { insertAuditLines } from '../features/accounts/audit/queries.ts'
import { callerFinder, type FindCaller } from '../features/accounts/keys/find-caller.ts'
import { type Caller, nobody } from '../kernel/ctx.ts'
import type { Db } from '../kernel/db.ts'
import { gather } from '../kernel/gather.ts'
import type { Log } from '../kernel/log.ts'
import type { Operation } from '../kernel/operation.ts'
import { mostRoom, openRoom, type Room } from '../kernel/room.ts'
import { openShare, type Share, sharedDb } from '../kernel/share.ts'
import { type ActTogether, togetherActor } from './act.ts'
import { failedKeyBrake } from './failed-keys.ts'
import { type TakeTurn, turnTaker } from './rate.ts'
import { replyChecker } from './reply.ts'
import { type Validate, validatorMaker } from './validate.ts'

export type GatesNeeds = {
  db: Db
  /** For calls that change nothing: however long those take, sending goes on. */
  reads: Db
  /** Commits without waiting for the disk: rate counters, lines about calls that changed nothing. */
  quick: Db
  log: Log
  now: () => Date
  cursorKey: Buffer
  takesMarketing: boolean
  rateFactor: number
  /** Called after an act has committed; what it queued can be taken up at once. */
  afterAct: (op: Operation) => void
  /** Under test: replies are held against their schemas, refusals against what the operation lists. */
  strict: boolean
}

export type Gates = GatesNeeds & {
  findCaller: FindCaller
  takeTurn: TakeTurn
  writeLine: (line: AuditLine) => Promise<void>
  /** The pools as one account has them. */
  readsOf: (caller: Caller) => Db
  changesOf: (caller: Caller) => Db
  failedKeys: ReturnType<typeof failedKeyBrake>
  validators: Map<Operation, Validate>
  checkReply: ReturnType<typeof replyChecker>
  actTogether: ActTogether
  /** Idempotency keys whose first call is at work before its transaction, in this process. */
  preparing: Set<string>
  /** For calls that hold much in memory: one account's, and among those that have what they need all accounts'. */
  longOnes: { ofOne: Share; ofAll: Share }
  /** What bodies of requests may take in memory. */
  bodies: Room
}

// Of the connections of their pools: some are always left to others.
const mostReads = 3
const mostChanges = 6
// Each may fill some 300 MB of memory.
const mostLong = { ofOne: 1, ofAll: 3 }
const longestWaitMs = 30_000

// Lines do not wait for each other, unlike turns of one limit.
const two = { underWay: 2 }

function shareOf(db: Db, most: number): (caller: Caller) => Db {
  const share = openShare(most)
  return (caller) => (caller === nobody ? db : sharedDb(db, share, caller.accountId))
}

export function openGates(operations: readonly Operation[], needs: GatesNeeds): Gates {
  const makeValidator = validatorMaker()
  const gates: Gates = {
    ...needs,
    findCaller: callerFinder(needs.db),
    takeTurn: turnTaker(needs.quick),
    writeLine: gather(async (lines: AuditLine[]) => {
      await insertAuditLines(needs.quick, lines)
      return lines.map(() => undefined)
    }, two),
    readsOf: shareOf(needs.reads, mostReads),
    changesOf: shareOf(needs.db, mostChanges),
    failedKeys: failedKeyBrake(),
    validators: new Map(operations.map((op) => [op, makeValidator(op)])),
    checkReply: replyChecker(),
    actTogether: togetherActor(() => gates),
    preparing: new Set(),
    longOnes: {
      ofOne: openShare(mostLong.ofOne, longestWaitMs),
      ofAll: openShare(mostLong.ofAll, longestWaitMs),
    },
    bodies: openRoom(mostRoom),
  }
  return gates
}
