// startDate, endDate and days, as the provider's reports take them. Days are UTC.
import { Type } from 'typebox'
import type { Ctx } from '../ctx.ts'
import { invalidParameter, missingParameter } from '../refusals.ts'
import { outOfRange } from './refusals.ts'

export const rangeQuery = {
  startDate: Type.Optional(
    Type.String({ maxLength: 40, description: 'YYYY-MM-DD; endDate is then needed too' }),
  ),
  endDate: Type.Optional(Type.String({ maxLength: 40, description: 'YYYY-MM-DD, that day included' })),
}

export const daysQuery = { days: Type.Optional(Type.Integer({ description: 'Instead of dates: up to 90' })) }

type Asked = { startDate?: string; endDate?: string; days?: number }

/** `until` itself is no longer in it. */
export type Range = { since: Date; until: Date }

const dayMs = 24 * 3_600_000
const form = /^(\d{4}-\d{2}-\d{2})([T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/i

/** A day, or a time; one without a zone is UTC. Undefined when it is none, such as the 31st of February. */
export function readMoment(text: string): Date | undefined {
  const [, day, time, zone] = form.exec(text) ?? []
  if (day === undefined || !isRealDay(day)) return undefined
  const at = new Date(time === undefined ? `${day}T00:00:00Z` : `${text.replace(' ', 'T')}${zone ? '' : 'Z'}`)
  return Number.isNaN(at.getTime()) ? undefined : at
}

// The parser takes the 31st of February for the 3rd of March.
function isRealDay(day: string): boolean {
  const at = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && dayOf(at) === day
}

/** Undefined when none is asked for. */
export function readRange(asked: Asked, mostDays: number): Range | undefined {
  const { startDate, endDate } = asked
  if (!startDate && !endDate) return undefined
  if (!startDate) throw missingParameter({ message: 'startDate is missing', param: 'startDate' })
  if (!endDate) throw missingParameter({ message: 'endDate is missing', param: 'endDate' })
  if (asked.days !== undefined) {
    throw invalidParameter({ message: 'days cannot be used with startDate and endDate', param: 'days' })
  }
  const since = readDate(startDate, 'startDate')
  const end = readDate(endDate, 'endDate')
  // The same time twice means the day that begins then: clients that know no dates write midnight.
  const isWholeDay = endDate.length === 10 || end.getTime() === since.getTime()
  const until = isWholeDay ? new Date(end.getTime() + dayMs) : end
  if (until <= since)
    throw invalidParameter({ message: 'startDate must not be after endDate', param: 'startDate' })
  // From the first day to the last, as clients count: today and the day 90 days ago lie 90 days apart.
  if (end.getTime() - since.getTime() <= mostDays * dayMs) return { since, until }
  throw outOfRange({ message: `The dates must lie at most ${mostDays} days apart`, param: 'endDate' })
}

/** The dates, or the last days with today. */
export function readRangeOrDays(
  ctx: Ctx,
  asked: Asked,
  { usual, most }: { usual: number; most: number },
): Range {
  const range = readRange(asked, most)
  if (range) return range
  const days = asked.days ?? usual
  if (days < 1 || days > most)
    throw outOfRange({ message: `days must be between 1 and ${most}`, param: 'days' })
  const until = new Date(Math.floor(ctx.now.getTime() / dayMs) * dayMs + dayMs)
  return { since: new Date(until.getTime() - days * dayMs), until }
}

// A plus that was not encoded arrives as a space.
const readAsked = (text: string) => readMoment(text.replace(/(:\d{2}(\.\d+)?) (\d{2}:?\d{2})$/, '$1+$3'))

function readDate(text: string, param: string): Date {
  const at = readAsked(text)
  if (at) return at
  throw invalidParameter({ message: `${param} must be a date of the calendar, such as 2026-11-15`, param })
}

export function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10)
}

/** Every day of the range, the first one first. */
export function daysOf({ since, until }: Range): string[] {
  const first = Date.parse(dayOf(since))
  const count = Math.ceil((until.getTime() - first) / dayMs)
  return Array.from({ length: count }, (_, i) => dayOf(new Date(first + i * dayMs)))
}

/** A day, or a time; one without a zone is UTC. Undefined when none is given. */
export function readSince(given: string | undefined, param: string): Date | undefined {
  if (!given) return undefined
  const at = readAsked(given)
  if (at) return at
  throw invalidParameter({
    message: `${param} must be a time that exists, such as 2026-11-15T09:30:00Z`,
    param,
  })
}
