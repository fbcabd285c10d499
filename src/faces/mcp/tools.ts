// One agent tool per operation of /api/v1, read off its declaration.
import type { TObject, TSchema } from 'typebox'
import type { RawInput } from '../../gates/validate.ts'
import { changesNothing, type Operation } from '../../kernel/operation.ts'
import { holdsScope, type Scope } from '../../kernel/scope.ts'

export function toolName({ name }: Operation): string {
  return name.replaceAll('.', '_')
}

export function toolsFor(operations: readonly Operation[], held: Scope[] | null): Operation[] {
  return operations.filter((op) => op.face === 'own' && holdsScope(held, op.scope))
}

// A schema is JSON Schema, which the protocol's types want to see spelled out as JSON.
type Properties = Record<string, Record<string, string>>
type Shaped = { properties: Properties; required: string[] }

const keyDescription =
  'Up to 255 characters. The same call with the same key gives the first answer again and does nothing more; ' +
  '_meta.idempotency_replayed of the result then is true.'

export function describeTool(op: Operation) {
  const parts = [op.params, op.query, op.body].map(shapeOf)
  const properties: Properties = Object.assign({}, ...parts.map((part) => part.properties))
  if (op.idempotent) properties.idempotency_key = { type: 'string', description: keyDescription }
  return {
    name: toolName(op),
    description: [op.summary, op.description].filter(Boolean).join('. '),
    inputSchema: {
      type: 'object' as const,
      properties,
      required: parts.flatMap((part) => part.required),
      additionalProperties: false,
    },
    annotations: {
      title: op.summary,
      readOnlyHint: changesNothing(op),
      destructiveHint: op.effect === 'irreversible' || op.method === 'DELETE',
      // A POST acts again when it is repeated, unless it carries an idempotency_key, which a hint knows nothing of.
      idempotentHint: changesNothing(op) || op.method === 'PUT' || op.method === 'DELETE',
      openWorldHint: op.effect === 'irreversible',
    },
  }
}

/** An agent gives all arguments side by side; the declaration says which belongs where. */
export function inputOf(
  op: Operation,
  given: Record<string, unknown>,
): RawInput & { idempotencyKey?: string } {
  const input = { params: {}, query: {}, body: {} as unknown }
  const params = Object.keys(shapeOf(op.params).properties)
  const query = Object.keys(shapeOf(op.query).properties)
  const parts = { params: [] as Entry[], query: [] as Entry[], body: [] as Entry[] }
  let idempotencyKey: string | undefined
  for (const [name, value] of Object.entries(given)) {
    // What is not text would become one text for all; an empty key is refused.
    if (op.idempotent && name === 'idempotency_key') idempotencyKey = typeof value === 'string' ? value : ''
    else if (params.includes(name)) parts.params.push([name, value])
    // Without a body, what is unknown must be refused as a query parameter would be.
    else if (query.includes(name) || !op.body) parts.query.push([name, value])
    else parts.body.push([name, value])
  }
  input.params = Object.fromEntries(parts.params)
  input.query = Object.fromEntries(parts.query)
  input.body = op.body ? Object.fromEntries(parts.body) : undefined
  return { ...input, idempotencyKey }
}

type Entry = [string, unknown]

function shapeOf(schema: TObject | TSchema | undefined): Shaped {
  const { properties = {}, required = [] } = (schema ?? {}) as Partial<Shaped>
  return { properties, required }
}
