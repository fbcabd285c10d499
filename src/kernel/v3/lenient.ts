// What clients of the compatible provider send for "nothing": null, an empty text, PHP's empty array.
import { type TObject, type TSchema, Type } from 'typebox'

/**
 * May also be null, which an empty text is read as. Null itself is asked for first and in a way that converts nothing:
 * otherwise null would become false or 0, and these null.
 */
export function optional<S extends TSchema>(schema: S) {
  return Type.Optional(Type.Union([Type.Unsafe<null>({ enum: [null] }), schema, Type.Null()]))
}

/** A map; an empty list stands for an empty one. */
export function optionalMap<S extends TSchema>(value: S) {
  return optional(
    Type.Union([Type.Record(Type.String(), value), Type.Array(Type.Unknown(), { maxItems: 0 })]),
  )
}

/** Nothing is read as a confirmation but the value true itself: neither "true" nor 1. */
export const Confirmation = Type.Optional(Type.Unsafe<unknown>({ description: 'true, to go ahead' }))

/** The validator turns null into an empty text; both mean that the field was not given. */
export function given(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text
}

export function mapOf<V>(value: Record<string, V> | unknown[] | null | undefined): Record<string, V> {
  return value && !Array.isArray(value) ? value : {}
}

/** What the database can hold: neither NUL nor half of a surrogate pair. */
export function storable(text: string): string {
  return text.replaceAll('\u0000', '').toWellFormed()
}

/** At most so many characters; one of two halves is not cut in two. */
export const cut = (text: string, most: number) => text.slice(0, most).replace(/[\ud800-\udbff]$/, '')

/** Without anything that would end a header line. */
export function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
}

/**
 * Lists in a query come as a=1&a=2, a[]=1&a[]=2, a[0]=1&a[1]=2 or a=1,2, by the client's library: all become the first.
 * Only numbers are parted at commas here: a text may hold one, which whoever takes it knows.
 */
export function plainQuery(query: unknown, schema: TObject | undefined): unknown {
  return partedNumbers(withoutBrackets(query), schema)
}

function withoutBrackets(query: unknown): unknown {
  const entries = Object.entries(query ?? {})
  if (!entries.some(([name]) => name.includes('['))) return query
  const plain = new Map<string, unknown[]>()
  for (const [given, value] of entries) {
    const name = given.replace(/\[\d*\]$/, '')
    plain.set(name, [...(plain.get(name) ?? []), ...[value].flat()])
  }
  return Object.fromEntries(
    [...plain].map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  )
}

function partedNumbers(query: unknown, schema: TObject | undefined): unknown {
  const given = (query ?? {}) as Record<string, unknown>
  const lists = Object.entries(schema?.properties ?? {}).filter(
    ([name, list]) => given[name] !== undefined && holdsNumbers(list),
  )
  if (lists.length === 0) return query
  const parted = lists.map(([name]) => [name, partsOf([given[name]].flat().map(String))])
  return { ...given, ...Object.fromEntries(parted) }
}

function holdsNumbers({ type, items }: { type?: unknown; items?: { type?: unknown } }): boolean {
  return type === 'array' && items?.type === 'integer'
}

/** Given as several parameters, or as one with commas. */
export function partsOf(given: string[]): string[] {
  return given.flatMap((one) => one.split(',')).map((one) => one.trim())
}
