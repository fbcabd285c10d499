// Where an operation takes something that may name what is another account's: found in its declaration.
import type { TSchema } from 'typebox'
import type { Operation } from '../../src/kernel/operation.ts'

type Schema = {
  type?: string
  enum?: unknown[]
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
}

const words = [
  ...[
    'ids?',
    'Ids?',
    'uuid',
    'identifier',
    'cursor',
    'token',
    'domain',
    'domainName',
    'email',
    'emails',
    'emailTo',
  ],
  ...['tags?', 'event_name', 'to', 'filter'],
]
const identifiers = new RegExp(`(^|[._a-z])(${words.join('|')})(\\[\\])*$`)

/** path:id, query:listIds, body:recipients.listIds[], header:idempotency-key */
export function placesOf(op: Operation): string[] {
  const found = [
    ...Object.keys(op.params?.properties ?? {}).map((name) => `path:${name}`),
    ...placesIn('query', op.query),
    ...placesIn('body', op.body),
    ...(op.idempotent ? ['header:idempotency-key'] : []),
  ]
  return [...new Set(found)]
}

function placesIn(part: string, schema: TSchema | undefined): string[] {
  return leaves((schema ?? {}) as Schema, '')
    .filter((name) => identifiers.test(name))
    .map((name) => `${part}:${name}`)
}

function leaves(schema: Schema, at: string): string[] {
  if (schema.type === 'null' || schema.enum?.[0] === null) return []
  if (schema.anyOf) return schema.anyOf.flatMap((each) => leaves(each, at))
  if (schema.items) return leaves(schema.items, `${at}[]`)
  const fields = Object.entries(schema.properties ?? {})
  if (fields.length === 0) return at ? [at] : []
  return fields.flatMap(([name, inner]) => leaves(inner, at && !at.endsWith('.') ? `${at}.${name}` : name))
}

/** A copy of the value with something else at this place. */
export function put(value: unknown, place: string, given: unknown): unknown {
  const [, name, list, rest] = /^([^.[]*)(\[\])?\.?(.*)$/.exec(place) ?? []
  if (list) {
    const first = name
      ? (value as Record<string, unknown[]> | undefined)?.[name]?.[0]
      : (value as unknown[])?.[0]
    const items = [rest ? put(first, rest, given) : given]
    return name ? { ...(value as object), [name]: items } : items
  }
  const holder = (value ?? {}) as Record<string, unknown>
  return { ...holder, [name as string]: rest ? put(holder[name as string], rest, given) : given }
}
