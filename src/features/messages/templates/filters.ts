import { toValue } from 'liquidjs'
import { counted, numberOf, type PureFilter } from './counted.ts'
import { markingFilters, markupFilters } from './html-filters.ts'
import { textFilters } from './text-filters.ts'
import { escapeHtml, escapeHtmlOnce, isTrue, printed, sizeOf } from './values.ts'

/** The filters of the compatible provider's language, besides those of the library. */
export const pureFilters = counted({
  default: (value, fallback) => (isTrue(value) ? value : fallback),
  default_if_none: (value, fallback) => toValue(value) ?? fallback,
  upper: (value) => printed(value).toUpperCase(),
  lower: (value) => printed(value).toLowerCase(),
  upcase: (value) => printed(value).toUpperCase(),
  downcase: (value) => printed(value).toLowerCase(),
  capfirst: (value) => capitalFirst(printed(value)),
  capitalize: (value) => capitalFirst(printed(value).toLowerCase()),
  title: (value) => titled(printed(value)),
  truncatechars: (value, most) => shortened(printed(value), numberOf(most)),
  floatformat: (value, places) => floatFormatted(value, places),
  length: (value) => sizeOf(toValue(value)),
  cut: (value, piece) => printed(value).replaceAll(printed(piece), ''),
  add: (value, more) => sum(value, more),
  yesno: (value, words) => yesNo(toValue(value), words),
  pluralize: (value, endings) => plural(value, endings),
  urlencode: (value, safe = '/') => percentEncoded(printed(value), new Set(printed(safe))),
  ...textFilters,
  ...markupFilters,
})

/** Filters that end in text which must not be escaped again. */
export const finishedFilters: Record<string, PureFilter> = {
  safe: (value) => value,
  raw: (value) => value,
  ...counted({
    escape: (value) => escapeHtml(printed(value)),
    force_escape: (value) => escapeHtml(printed(value)),
    escape_once: (value) => escapeHtmlOnce(printed(value)),
    ...markingFilters,
  }),
}

/** A space is %20, which means one in every part of an address. */
const percentEncoded = (text: string, safe: Set<string>) =>
  text
    .toWellFormed()
    .replace(/[^A-Za-z0-9_.~-]/gu, (one) =>
      safe.has(one) ? one : (keptByEngine[one] ?? encodeURIComponent(one)),
    )

const keptByEngine: Record<string, string> = { '!': '%21', "'": '%27', '(': '%28', ')': '%29', '*': '%2A' }

function capitalFirst(text: string): string {
  const [first = ''] = text
  return first.toUpperCase() + text.slice(first.length)
}

const titled = (text: string) =>
  text.replace(/\p{L}[\p{L}\p{M}\p{N}'’]*/gu, (word) => capitalFirst(word.toLowerCase()))

function shortened(text: string, most: number): string {
  if (text.length <= most || Number.isNaN(most)) return text
  const characters = [...text]
  return characters.length <= most ? text : `${characters.slice(0, Math.max(most - 1, 0)).join('')}…`
}

const mostPlaces = 20

// Without an argument: one decimal place, but only where there is a fraction. A negative count means the same.
function floatFormatted(value: unknown, places: unknown): string {
  const number = numberOf(value)
  if (!Number.isFinite(number)) return ''
  const asked = places === undefined ? -1 : Math.trunc(numberOf(places))
  if (Number.isNaN(asked)) return printed(value)
  if (asked < 0 && Number.isInteger(number)) return String(number)
  return roundedHalfUp(number, Math.min(Math.abs(asked), mostPlaces))
}

// Rounds the decimal digits as written: 1.005 to two places is 1.01, which toFixed alone gets wrong.
function roundedHalfUp(number: number, places: number): string {
  const shifted = Math.round(Number(`${Math.abs(number)}e${places}`))
  const rounded = Number(`${shifted}e-${places}`)
  const magnitude = (Number.isFinite(rounded) ? rounded : Math.abs(number)).toFixed(places)
  return number < 0 && Number(magnitude) !== 0 ? `-${magnitude}` : magnitude
}

function sum(value: unknown, more: unknown): unknown {
  const [one, other] = [numberOf(value), numberOf(more)]
  return Number.isNaN(one) || Number.isNaN(other) ? printed(value) + printed(more) : one + other
}

function yesNo(value: unknown, words: unknown): string {
  const [yes = 'yes', no = 'no', perhaps = no] = (printed(words) || 'yes,no,maybe').split(',')
  if (value === null || value === undefined) return perhaps
  return isTrue(value) ? yes : no
}

function plural(value: unknown, endings: unknown): string {
  const given = (printed(endings) || 's').split(',')
  const [one, many] = given.length > 1 ? given : ['', given[0]]
  const count = Array.isArray(value) ? value.length : numberOf(value)
  return (count === 1 ? one : many) ?? ''
}

/** `start:end:step`, each of which may be absent or count from the end. One that is none changes nothing. */
export function sliced(value: unknown, range: string): unknown {
  const asked = (range.includes(':') ? range : `:${range}`).split(':').map((part) => part.trim())
  const [start, end, step = 1] = asked.map((part) => (part === '' ? undefined : Number(part)))
  const isRange = asked.length <= 3 && asked.every((part) => /^([+-]?\d+)?$/.test(part)) && step !== 0
  if (!isRange) return value
  const items = Array.isArray(value) ? value : [...printed(value)]
  const [first, last] = step > 0 ? [0, items.length] : [items.length - 1, -1]
  const within = (at: number) =>
    at < 0 ? Math.max(at + items.length, Math.min(first, last)) : Math.min(at, Math.max(first, last))
  const taken: unknown[] = []
  const stop = end === undefined ? last : within(end)
  for (let at = start === undefined ? first : within(start); step > 0 ? at < stop : at > stop; at += step)
    taken.push(items[at])
  return Array.isArray(value) ? taken : taken.join('')
}
