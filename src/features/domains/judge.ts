// What the readings of a domain's records come to.
import type { Identity } from '../../kernel/ports.ts'
import { type DomainRow, keyOf, type RecordState, type Status, type Wanted } from './model.ts'
import type { Read } from './read-records.ts'

const hourMs = 3_600_000
/** As long as the large upstreams look for records. */
const pendingMs = 72 * hourMs

const notYetRead = 'Public DNS has not been asked for this record yet.'
const unread: Omit<RecordState, keyof Wanted> = {
  state: 'unreadable',
  found: [],
  explanation: notYetRead,
  remarks: [],
  facts: {},
  known: null,
  knownAt: null,
  wasOk: false,
}

type Readings = { readings: Map<string, Read>; at: Date }

/** An answer that failed leaves the last known state as it was. */
export function applyReadings(before: RecordState[], wanted: Wanted[], { readings, at }: Readings) {
  const known = new Map(before.map((one) => [keyOf(one), one]))
  return wanted.map((record): RecordState => {
    const old = { ...unread, ...known.get(keyOf(record)), note: undefined, retired: undefined, ...record }
    const reading = readings.get(keyOf(record))
    if (!reading) return old
    const { mailHost } = { ...old.facts, ...reading.facts }
    // A record that was read, though not all that it leads to: what is to be pasted is made from this one.
    const paste = reading.facts.paste === undefined ? old.facts.paste : reading.facts.paste
    if (reading.state === 'unreadable')
      return { ...old, ...reading, facts: { ...old.facts, mailHost, paste } }
    const wasOk = old.wasOk || reading.state === 'ok'
    const facts = { ...old.facts, ...reading.facts }
    return { ...old, ...reading, facts, known: reading.state, knownAt: at.toISOString(), wasOk }
  })
}

const isOk = ({ known }: RecordState) => known === 'ok'
const ofRole = (records: RecordState[], role: Wanted['role']) => records.filter((one) => one.role === role)

/** Of keys of the account's own, any that signs will do; an upstream needs all that it asks for. */
export function hasDkim(records: RecordState[], upstream: Identity | null): boolean {
  const keys = ofRole(records, 'dkim').filter(({ retired }) => !retired)
  if (!upstream) return keys.some(isOk)
  const needed = keys.filter(({ required }) => required)
  return upstream.ready === true && needed.length > 0 && needed.every(isOk)
}

/** A key of the account's own proves as much as the token: no other account was given it. */
export function isOwned(records: RecordState[], upstream: Identity | null): boolean {
  return ofRole(records, 'verification').some(isOk) || (!upstream && hasDkim(records, upstream))
}

export type Verdict = {
  status: Status
  verifiedAt: Date | null
  unprovenSince: Date | null
  broken: RecordState[]
  isBroken: boolean
}

type Judged = Pick<DomainRow, 'status' | 'verified_at' | 'unproven_since' | 'created_at' | 'upstream'>

export function judge(row: Judged, records: RecordState[], at: Date): Verdict {
  const isProven = isOwned(records, row.upstream)
  const isVerified = isProven && hasDkim(records, row.upstream)
  const verifiedAt = row.verified_at ?? (isVerified ? at : null)
  const status = isVerified ? 'verified' : statusWithout(row, at)
  const unprovenSince = isProven || verifiedAt === null ? null : (row.unproven_since ?? at)
  const broken = records.filter(isBrokenRecord)
  const isBroken = verifiedAt !== null && (status !== 'verified' || broken.length > 0)
  return { status, verifiedAt, unprovenSince, broken: isBroken ? broken : [], isBroken }
}

export const isBrokenRecord = ({ required, wasOk, known }: RecordState) => required && wasOk && known !== 'ok'

function statusWithout({ status, verified_at, created_at }: Judged, at: Date): Status {
  const isNew = verified_at === null && status === 'pending'
  return isNew && at.getTime() - created_at.getTime() < pendingMs ? 'pending' : 'failed'
}

type Timed = Pick<DomainRow, 'created_at'> & { verdict: Verdict; records: RecordState[]; isRotating: boolean }

const minuteMs = 60_000
const dayMs = 24 * hourMs

/** About once a day when all is well; the newer or the more broken, the sooner. */
export function nextCheckAt({ created_at, verdict, records, isRotating }: Timed, at: Date): Date {
  const age = at.getTime() - created_at.getTime()
  const wait = Math.min(
    verdict.status === 'verified' ? dayMs : Math.max(minuteMs, Math.min(age / 4, 6 * hourMs)),
    verdict.isBroken || isRotating ? hourMs : dayMs,
    records.some(({ state }) => state === 'unreadable') ? hourMs / 4 : dayMs,
  )
  // Spread, so that domains declared together are not checked together for ever.
  return new Date(at.getTime() + wait * (0.9 + Math.random() * 0.2))
}
