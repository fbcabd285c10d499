// The wire types that several features share. A schema here is JSON Schema as it stands.
import { type TProperties, type TSchema, type TUnsafe, Type } from 'typebox'

/** An object that takes no other fields: /api/v1 refuses unknown ones by name, /v3 drops them. */
export function closed<P extends TProperties>(properties: P, options: { description?: string } = {}) {
  return Type.Object(properties, { additionalProperties: false, ...options })
}

export function words<const W extends readonly string[]>(
  allowed: W,
  options: { description?: string } = {},
): TUnsafe<W[number]> {
  return Type.Unsafe<W[number]>({ type: 'string', enum: [...allowed], ...options })
}

export function orNull<S extends TSchema>(schema: S) {
  return Type.Union([schema, Type.Null()])
}

export const Time = Type.String({ format: 'date-time', description: 'ISO 8601' })
/** A date is its first moment, in UTC. */
export const DateOrTime = Type.Union([Time, Type.String({ format: 'date' })])

const bounds = new Set([
  'pattern',
  'format',
  'required',
  'minLength',
  'maxLength',
  'maxItems',
  'minimum',
  'maximum',
])

/** The same types and names without any bound: for what is judged later, and answered rather than refused. */
export function loosened<T>(schema: TSchema): TUnsafe<T> {
  return Type.Unsafe<T>(loose(schema) as TSchema)
}

function loose(schema: unknown): unknown {
  if (schema === null || typeof schema !== 'object') return schema
  if (Array.isArray(schema)) return schema.map(loose)
  const kept = Object.entries(schema).filter(([name, value]) => !bounds.has(name) || isSchema(value))
  return Object.fromEntries(kept.map(([name, value]) => [name, loose(value)]))
}

/** A property may be called like a bound. */
const isSchema = (value: unknown) => value !== null && typeof value === 'object' && !Array.isArray(value)

export const pageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'Rows per page' })),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 1024, description: 'next_cursor of the page before' }),
  ),
}

export function pageOf<S extends TSchema>(row: S) {
  return closed({ data: Type.Array(row), next_cursor: orNull(Type.String()) })
}

/** Of what stands in the way, or ought to be known. */
export const Warning = closed({
  code: Type.String(),
  message: Type.String(),
  param: Type.Optional(Type.String()),
  hint: Type.Optional(Type.String()),
  action: Type.Optional(
    closed({
      operation: Type.String(),
      method: Type.String(),
      path: Type.String(),
      scope: orNull(Type.String()),
      body: Type.Optional(Type.Unknown()),
    }),
  ),
})
