// The body of an operation as its callers should write it.
import type { TSchema } from 'typebox'
import type { Operation } from '../../kernel/operation.ts'

type Shown = { required?: string[]; properties?: Record<string, unknown> }

export function shownBody({ body, needs, face }: Operation): Shown {
  const shown = (face === 'v3' ? tidy(body as TSchema) : body) as Shown
  return needs.length === 0 ? shown : { ...shown, required: [...(shown.required ?? []), ...needs] }
}

/**
 * Unknown fields are dropped there, not refused. Null stands twice among what a lenient field may be: in front, so that
 * it is not read as an empty text.
 */
function tidy(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(tidy)
  if (schema === null || typeof schema !== 'object') return schema
  const kept = Object.entries(schema).filter(([name]) => name !== 'additionalProperties')
  const shown = Object.fromEntries(kept.map(([name, value]) => [name, tidy(value)]))
  const { anyOf } = shown
  if (!Array.isArray(anyOf) || !anyOf.some(({ type }) => type === 'null')) return shown
  return { ...shown, anyOf: anyOf.filter((one) => !isNullAlone(one)) }
}

const isNullAlone = ({ enum: only }: { enum?: unknown[] }) => only?.length === 1 && only[0] === null
