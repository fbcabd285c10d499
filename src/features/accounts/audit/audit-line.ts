// What a line of the action log holds: who called what, with which parameters, and what came of it.
// Contents, secrets and template parameters never stand in it.
import type { TSchema } from 'typebox'

export type AuditLine = {
  id: string
  accountId: string
  at: Date
  keyId: string
  operation: string
  /** JSON text. */
  params: string
  status: number
  code: string | null
  requestId: string
  ip: string | null
}

const longestText = 200
const mostEntries = 50
const deepest = 4
/** In place of the value of a field that the operation does not know: that may be anything, a key or a whole mail. */
const notKept = '[not kept]'

const parts = ['params', 'query', 'body'] as const
type Input = { [part in (typeof parts)[number]]?: unknown }
type Known = { [part in (typeof parts)[number]]?: TSchema } & { secret: readonly string[] }

/**
 * The parameters of a call, without the fields declared secret, cut to a size that a log can bear. Of fields that the
 * operation does not know, at any depth, only the names are kept.
 */
export function auditableParams(input: Input, known: Known): string {
  const shown: Record<string, unknown> = {}
  for (const part of parts) {
    const given = input[part]
    if (given === null || typeof given !== 'object' || Array.isArray(given)) continue
    const kept = keptOf(given, branchesOf(known[part]), deepest + 1, known.secret)
    // A field that is known in one part stays, whatever stands under its name in another.
    for (const [name, value] of Object.entries(kept))
      if (value !== notKept || !(name in shown)) shown[name] = value
  }
  return JSON.stringify(shown)
}

/** What the walk through a value asks of a schema. */
type Branch = {
  type?: string | string[]
  anyOf?: Branch[]
  enum?: unknown[]
  const?: unknown
  properties?: Record<string, Branch>
  patternProperties?: Record<string, Branch>
  additionalProperties?: boolean | Branch
  items?: Branch
}

/** Nothing is known where there is no schema; each alternative of a union knows its own. */
function branchesOf(schema: Branch | undefined): Branch[] {
  if (!schema) return []
  const branches = parted.get(schema) ?? (schema.anyOf ? schema.anyOf.flatMap(branchesOf) : [schema])
  parted.set(schema, branches)
  return branches
}

// Schemas are declared once, and every call asks for them.
const parted = new WeakMap<Branch, Branch[]>()

const takes = (type: string) => (branch: Branch) =>
  branch.type === undefined
    ? branch.enum === undefined && branch.const === undefined
    : [branch.type].flat().includes(type)

function trimmed(value: unknown, branches: Branch[], depth: number): unknown {
  if (typeof value === 'string') return clean(value)
  if (value === null || typeof value !== 'object') return value
  if (depth === 0) return '…'
  if (!Array.isArray(value)) return keptOf(value, branches, depth)
  const items = branches.filter(takes('array')).flatMap(({ items = {} }) => branchesOf(items))
  return value.slice(0, mostEntries).map((item) => trimmed(item, items, depth - 1))
}

const none: readonly string[] = []

function keptOf(value: object, branches: Branch[], depth: number, secret = none): Record<string, unknown> {
  const takers = branches.filter(takes('object'))
  const kept: Record<string, unknown> = {}
  for (const [name, inner] of Object.entries(value).slice(0, mostEntries)) {
    if (secret.includes(name)) continue
    const found = takers.flatMap((branch) => branchesOf(fieldOf(branch, name)))
    kept[clean(name)] = found.length === 0 ? notKept : trimmed(inner, found, depth - 1)
  }
  return kept
}

const anything: Branch = {}

function fieldOf(branch: Branch, name: string): Branch | undefined {
  const { properties = {}, patternProperties, additionalProperties = true } = branch
  if (Object.hasOwn(properties, name)) return properties[name]
  for (const pattern in patternProperties) if (isOf(pattern, name)) return patternProperties[pattern]
  if (typeof additionalProperties === 'object') return additionalProperties
  return additionalProperties ? anything : undefined
}

const patterns = new Map<string, RegExp>()

function isOf(pattern: string, name: string): boolean {
  const known = patterns.get(pattern) ?? new RegExp(pattern, 'u')
  patterns.set(pattern, known)
  return known.test(name)
}

// Ours and those of the compatible provider: what is left is enough to recognise one, and not to use it.
const keyShaped = /((?:phk_(?:live|test)_|x(?:key|smtp)sib-)\w{4})[\w-]+/g

// jsonb takes neither NUL nor half of a surrogate pair.
function clean(text: string): string {
  const cut = text.length > longestText ? `${text.slice(0, longestText)}…` : text
  return cut.replaceAll('\u0000', '').toWellFormed().replaceAll(keyShaped, '$1…')
}
