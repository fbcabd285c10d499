// since and until of the statistics: a day or a time each, widened to whole UTC days, which is what counts are kept by.
import { type Static, Type } from 'typebox'
import { invalidParameter } from '../../kernel/refusals.ts'
import { closed, orNull, Time } from '../../kernel/schema.ts'
import type { Days } from '../messages/counts/queries.ts'

const DayOrTime = Type.Union([Time, Type.String({ format: 'date' })], {
  description: 'A day or a time; its whole UTC day is taken',
})

export const windowQuery = { since: Type.Optional(DayOrTime), until: Type.Optional(DayOrTime) }

export const Window = closed(
  { since: orNull(Time), until: orNull(Time) },
  { description: 'What the figures cover; null: without limit' },
)

export type Window = { days: Days; shown: Static<typeof Window> }

export function readWindow({ since, until }: { since?: string; until?: string }): Window {
  const [first, last] = [dayOf(since, 'since'), dayOf(until, 'until')]
  if (first !== undefined && last !== undefined && last < first)
    throw invalidParameter({ message: 'since must not be after until.', param: 'since' })
  return {
    days: { first, last },
    shown: {
      since: first === undefined ? null : `${first}T00:00:00.000Z`,
      until: last === undefined ? null : `${last}T23:59:59.999Z`,
    },
  }
}

// What the database takes for a date as well.
const day = /^(?:19[7-9]|[2-9]\d\d)\d-\d\d-\d\d/

function dayOf(given: string | undefined, param: string): string | undefined {
  if (given === undefined) return undefined
  const at = new Date(given)
  const shown = Number.isNaN(at.getTime()) ? '' : at.toISOString()
  if (day.test(shown)) return shown.slice(0, 10)
  throw invalidParameter({ message: `${param} must be a time since 1970.`, param })
}
