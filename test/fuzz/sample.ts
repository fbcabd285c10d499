// Values that a schema allows, as far as it tells: what reaches the inside of an operation.
import type { TSchema } from 'typebox'
import type { Dice } from './dice.ts'

type Schema = {
  type?: string
  enum?: unknown[]
  const?: unknown
  format?: string
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  patternProperties?: Record<string, Schema>
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
}

export type Samples = {
  dice: Dice
  /** Something that exists, for a field of this name. */
  known: (name: string) => unknown
}

export const sampleOf = (schema: TSchema, samples: Samples, name = ''): unknown =>
  sample(schema as Schema, name, samples, 0)

function sample(schema: Schema, name: string, samples: Samples, depth: number): unknown {
  const { dice, known } = samples
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return dice.pick(schema.enum)
  if (schema.anyOf) return sample(dice.pick(schema.anyOf), name, samples, depth)
  if (schema.type === 'object') return objectFrom(schema, samples, depth)
  if (schema.type === 'array') return listFrom(schema, name, samples, depth)
  const found = dice.chance(0.7) ? known(name) : undefined
  if (schema.type === 'string') return found === undefined ? textFrom(schema, dice) : String(found)
  if (schema.type === 'integer' || schema.type === 'number')
    return typeof found === 'number' ? found : numberFrom(schema, dice)
  if (schema.type === 'boolean') return dice.chance(0.5)
  return found ?? dice.pick([null, 'text', 1, true])
}

function objectFrom(schema: Schema, samples: Samples, depth: number): object {
  const { dice } = samples
  const names = Object.keys(schema.properties ?? {})
  const most = depth === 0 ? 0.4 : 0.3
  const chosen = names.filter((name) => schema.required?.includes(name) || dice.chance(most))
  const fields = chosen.map((name): [string, unknown] => [
    name,
    sample(schema.properties?.[name] ?? {}, name, samples, depth + 1),
  ])
  const [free] = Object.values(schema.patternProperties ?? {})
  if (free)
    fields.push([dice.pick(['FIRSTNAME', 'name', 'x', 'SCORE']), sample(free, '', samples, depth + 1)])
  return Object.fromEntries(fields)
}

function listFrom(schema: Schema, name: string, samples: Samples, depth: number): unknown[] {
  const length = Math.max(schema.minItems ?? 0, Math.min(schema.maxItems ?? 3, samples.dice.below(4)))
  return Array.from({ length }, () => sample(schema.items ?? {}, name.replace(/s$/, ''), samples, depth + 1))
}

const byFormat: Record<string, string[]> = {
  'date-time': ['2026-11-15T09:30:00Z', '2031-01-01T00:00:00+02:00', '2020-02-29T23:59:59.999Z'],
  date: ['2026-11-15', '2020-02-29'],
  email: ['anna@example.com', 'berta@example.com'],
  mailbox: ['Anna <anna@example.com>', 'berta@example.com'],
  'time-zone': ['Europe/Paris', 'UTC'],
  uri: ['https://127.0.0.1/x'],
  uuid: ['01920000-0000-7000-8000-000000000000'],
}

const plain = [
  'Hello',
  'shop',
  '1',
  'anna@example.com',
  '2026-11-15',
  'https://127.0.0.1/x',
  '<p>Hi {{ params.x }}</p>',
]

function textFrom({ format, minLength = 0, maxLength = 1_000 }: Schema, dice: Dice): string {
  const text = dice.pick(byFormat[format ?? ''] ?? plain)
  return format ? text : text.padEnd(minLength, 'x').slice(0, maxLength)
}

function numberFrom({ minimum = 0, maximum = 100 }: Schema, dice: Dice): number {
  return dice.pick([minimum, maximum, Math.min(maximum, minimum + dice.below(100))])
}
