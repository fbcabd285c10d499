// What clients of the compatible provider send for "nothing": null, an empty text, PHP's empty array.
import { type TSchema, Type } from 'typebox'

/** May also be null, which an empty text is read as. */
export function optional<S extends TSchema>(schema: S) {
  return Type.Optional(Type.Union([Type.Null(), schema]))
}

/** A map; an empty list stands for an empty one. */
export function optionalMap<S extends TSchema>(value: S) {
  return optional(
    Type.Union([Type.Record(Type.String(), value), Type.Array(Type.Unknown(), { maxItems: 0 })]),
  )
}

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

/** Without anything that would end a header line. */
export function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
}
