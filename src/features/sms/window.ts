// When marketing SMS may be sent in France. Days and hours are those of Paris, whatever the zone of the machine.
import { DateTime } from 'luxon'
import { holidayOn } from './holidays.ts'

const zone = 'Europe/Paris'
const opensAt = 8
const closesAt = 20
const sunday = 7

export type Window =
  | { isOpen: true; secondsLeft: number }
  | { isOpen: false; rule: 'hours' | 'sunday' | 'public_holiday'; says: string; opens: Date }

/** From 08:00:00 to before 20:00:00, not on Sundays, not on public holidays. */
export function windowAt(at: Date): Window {
  const here = DateTime.fromJSDate(at, { zone })
  const closed = closedDay(here)
  if (closed) return { isOpen: false, ...closed, opens: nextOpening(here) }
  const closes = hourOf(here, closesAt)
  if (here >= hourOf(here, opensAt) && here < closes)
    return { isOpen: true, secondsLeft: Math.floor(closes.diff(here, 'seconds').seconds) }
  const says = 'Marketing SMS are sent from 08:00 to 20:00, Paris time'
  return { isOpen: false, rule: 'hours', says, opens: nextOpening(here) }
}

function closedDay(day: DateTime): { rule: 'sunday' | 'public_holiday'; says: string } | undefined {
  const holiday = holidayOn(day.toFormat('yyyy-MM-dd'))
  if (holiday) return { rule: 'public_holiday', says: `Marketing SMS are not sent on ${holiday} (France)` }
  if (day.weekday === sunday) return { rule: 'sunday', says: 'Marketing SMS are not sent on Sundays' }
  return undefined
}

function nextOpening(from: DateTime): Date {
  const today = hourOf(from, opensAt)
  let opening = from < today ? today : hourOf(from.plus({ days: 1 }), opensAt)
  while (closedDay(opening)) opening = hourOf(opening.plus({ days: 1 }), opensAt)
  return opening.toJSDate()
}

const hourOf = (day: DateTime, hour: number) => day.startOf('day').set({ hour })
