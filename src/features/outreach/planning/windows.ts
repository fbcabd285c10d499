// When a sequence may write: hours and days on the clock of its own zone, whatever that does in spring and autumn.
import { DateTime } from 'luxon'
import { startOfUtcDay } from './slots.ts'

const dayMs = 86_400_000

/** `days`: 1 is Monday, 7 is Sunday. `from` and `to`: hours and minutes, the latter no longer in it. */
export type Schedule = { timezone: string; days: number[]; from: string; to: string }

/** `closes` itself is no longer in it. `day` is that of the zone. */
export type Window = { opens: number; closes: number; day: string }

/** Those that are open at some time between the two. */
export function windowsBetween(schedule: Schedule, since: number, until: number): Window[] {
  const zone = zoneOf(schedule.timezone)
  const [from, to] = [clockMs(schedule.from), clockMs(schedule.to)]
  const windows: Window[] = []
  // The day before as well: where the last hour of a day is left out, its window may open as the next one begins.
  for (let day = startOfUtcDay(since + zone.offset(since)) - dayMs; ; day += dayMs) {
    const [begins, ends] = [firstShowing(zone, day), firstShowing(zone, day + dayMs)]
    if (begins >= until) return windows
    // Some places have left out a day.
    if (begins >= ends || !schedule.days.includes(weekdayOf(day))) continue
    const [opens, shut] = [firstShowing(zone, day + from), firstShowing(zone, day + to)]
    // One that is left out as a whole is as long as ever, from when the clock was put forward.
    const closes = shut > opens ? shut : opens + to - from
    if (closes > since && opens < until) windows.push({ opens, closes, day: utcDay(day) })
  }
}

type Zone = { offset(at: number): number }

/** `offset`: in milliseconds, of the clock there before that of UTC. */
function zoneOf(timezone: string): Zone {
  const { zone } = DateTime.fromMillis(0, { zone: timezone })
  return { offset: (at) => zone.offset(at) * 60_000 }
}

/**
 * When the clock of the zone shows this, or more, for the first time: of an hour that comes twice the first one, and
 * for what is left out when the clock is put forward. `shown` is what a clock shows, as a time of UTC.
 */
function firstShowing(zone: Zone, shown: number): number {
  // A day away on either side, whatever the zone.
  const [before, after] = [shown - dayMs, shown + dayMs]
  const offsets = [zone.offset(before), zone.offset(after)]
  for (const offset of offsets) if (zone.offset(shown - offset) === offset) return shown - offset
  return changeBetween(zone, before, after)
}

function changeBetween(zone: Zone, since: number, until: number): number {
  let [before, after] = [since, until]
  const offset = zone.offset(before)
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (zone.offset(middle) === offset) before = middle
    else after = middle
  }
  return after
}

const weekdayOf = (day: number) => new Date(day).getUTCDay() || 7

function clockMs(clock: string): number {
  const [hour = 0, minute = 0] = clock.split(':').map(Number)
  return (hour * 60 + minute) * 60_000
}

const isoDay = (at: DateTime): string => at.toFormat('yyyy-MM-dd')

export function isOpen(schedule: Schedule, at: Date): boolean {
  return windowsBetween(schedule, at.getTime(), at.getTime() + 1).length > 0
}

/** The day of the zone. */
export function dayIn(timezone: string, at: Date): string {
  return isoDay(DateTime.fromJSDate(at, { zone: timezone }))
}

/** So many days later on the clock of the zone. */
export function daysLater(timezone: string, at: Date, days: number): Date {
  return DateTime.fromJSDate(at, { zone: timezone }).plus({ days }).toJSDate()
}

export function utcDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

/** How long it is open on a day without a change of the clock. */
export const openMs = ({ from, to }: Schedule): number => clockMs(to) - clockMs(from)
