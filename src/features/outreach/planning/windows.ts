// When a sequence may write: hours and days on the clock of its own zone, whatever that does in spring and autumn.
import { DateTime } from 'luxon'

/** `days`: 1 is Monday, 7 is Sunday. `from` and `to`: hours and minutes, the latter no longer in it. */
export type Schedule = { timezone: string; days: number[]; from: string; to: string }

/** `closes` itself is no longer in it. `day` is that of the zone. */
export type Window = { opens: number; closes: number; day: string }

/** Those that are open at some time between the two. */
export function windowsBetween(schedule: Schedule, since: number, until: number): Window[] {
  const windows: Window[] = []
  let day = DateTime.fromMillis(since, { zone: schedule.timezone }).startOf('day')
  for (; day.toMillis() < until; day = day.plus({ days: 1 }).startOf('day')) {
    if (!schedule.days.includes(day.weekday)) continue
    const [opens, closes] = [timeOn(day, schedule.from), timeOn(day, schedule.to)]
    if (closes > since && opens < until && opens < closes) windows.push({ opens, closes, day: isoDay(day) })
  }
  return windows
}

function timeOn(day: DateTime, clock: string): number {
  const [hour = 0, minute = 0] = clock.split(':').map(Number)
  return day.set({ hour, minute }).toMillis()
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
export function openMs({ from, to }: Schedule): number {
  const minutes = (clock: string) => {
    const [hour = 0, minute = 0] = clock.split(':').map(Number)
    return hour * 60 + minute
  }
  return (minutes(to) - minutes(from)) * 60_000
}
