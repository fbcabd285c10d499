// From what the validator found to sentences that a person or an agent can act on.
import type { ErrorObject } from 'ajv'
import { formatWords } from './formats.ts'
import { nearest } from './nearest.ts'
import { patternWords } from './patterns.ts'
import type { Fault } from './refusal.ts'

// A body of a megabyte can have a million faults: what is said about the first ones is enough.
const mostLookedAt = 300

/** `elsewhere`: names of the same call that stand in another part of it, and may have been meant. */
export function faultsOf(errors: ErrorObject[], elsewhere: readonly string[] = []): Fault[] {
  const places = new Map<string, ErrorObject[]>()
  for (const error of withoutDeadBranches(errors.slice(0, mostLookedAt))) {
    const place = placeOfFault(error)
    places.set(place, [...(places.get(place) ?? []), error])
  }
  return [...places.values()].map((one) => faultOf(one, elsewhere))
}

/** A field is told of once, whatever is wrong with it; one that is missing or unknown is a place of its own. */
function placeOfFault({ keyword, instancePath, params }: ErrorObject): string {
  const name = keyword === 'required' ? params.missingProperty : params.additionalProperty
  return name === undefined ? instancePath : `${instancePath} ${keyword} ${name}`
}

/** The fields of a body that have a fault, also those that are not told of. */
export function faultyFields(errors: ErrorObject[]): Set<string> {
  return new Set(
    errors.map(({ instancePath, params }) => {
      const [, field = ''] = instancePath.split('/', 2)
      return field === '' ? String(params.missingProperty ?? params.additionalProperty ?? '') : field
    }),
  )
}

export function withoutFields<B extends object>(body: B, fields: ReadonlySet<string>): B {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !fields.has(name))) as B
}

// A union reports every branch. The branches that the value never was (other type, other word) say nothing;
// if one branch fits by type, its own faults are the useful ones, and the union's are not.
function withoutDeadBranches(errors: ErrorObject[]): ErrorObject[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
  return unions.reduce((kept, union) => {
    const inside = kept.filter(
      (error) => error !== union && error.schemaPath.startsWith(`${union.schemaPath}/`),
    )
    const alive = inside.filter((error) => error.instancePath !== union.instancePath || !isOtherKind(error))
    const dropped = new Set(inside.filter((error) => !alive.includes(error)))
    if (alive.length > 0) dropped.add(union)
    return kept.filter((error) => !dropped.has(error))
  }, errors)
}

// An empty list stands for nothing, so a list that is not empty never was that branch either.
const isOtherKind = ({ keyword, params }: ErrorObject) =>
  ['type', 'const', 'enum'].includes(keyword) || (keyword === 'maxItems' && params.limit === 0)

function faultOf(errors: ErrorObject[], elsewhere: readonly string[]): Fault {
  const [error] = errors as [ErrorObject]
  const at = placeOf(error.instancePath)
  if (error.keyword === 'required') {
    const param = join(at, error.params.missingProperty)
    return { code: 'missing_parameter', message: `${param} is missing.`, param }
  }
  if (error.keyword === 'additionalProperties') return unknownField(error, at, elsewhere)
  if (error.keyword === 'type' && error.instancePath === '') {
    return { code: 'invalid_parameter', message: `The body must be ${typeWords(error.params.type)}.` }
  }
  return {
    code: 'invalid_parameter',
    message: `${at || 'The body'} ${sayAll(errors)}.`,
    param: at || undefined,
  }
}

/** Which words are taken says the most; the branches of a union are alternatives; else the first is enough. */
function sayAll(errors: ErrorObject[]): string {
  const [first] = errors as [ErrorObject]
  const words = errors.find(({ keyword }) => keyword === 'enum' || keyword === 'const')
  if (words) return sayOf(words)
  const others = errors.filter((error, i) => {
    const before = errors.slice(0, i).map(branchOf)
    return i > 0 && !before.includes(branchOf(error))
  })
  return [sayOf(first), ...others.map((error) => sayOf(error).replace(/^must be /, ''))].join(' or ')
}

const branchOf = ({ schemaPath }: ErrorObject) => /^.*\/(?:anyOf|oneOf)\/\d+/.exec(schemaPath)?.[0] ?? ''

function unknownField(error: ErrorObject, at: string, elsewhere: readonly string[]): Fault {
  const typed = String(error.params.additionalProperty)
  const param = join(at, typed.slice(0, 64))
  const own = Object.keys(error.parentSchema?.properties ?? {})
  const known = at === '' ? [...own, ...elsewhere] : own
  // campaign_id, where the campaign's own id is asked for.
  const meant = nearest(typed, known) ?? known.find((name) => typed.endsWith(`_${name}`))
  const hint = meant ? ` Did you mean ${join(at, meant)}?` : ''
  return { code: 'unknown_parameter', message: `${param} is unknown.${hint}`, param }
}

/** /recipients/0/email → recipients[0].email */
function placeOf(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~').slice(0, 64))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : join(path, part)), '')
}

function join(path: string, part: string): string {
  return path === '' ? part : `${path}.${part}`
}

const typeNames: Record<string, string> = {
  object: 'an object',
  array: 'a list',
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  null: 'null',
}

function typeWords(types: string | string[]): string {
  return [types]
    .flat()
    .map((type) => typeNames[type] ?? type)
    .join(' or ')
}

function sayOf({ keyword, params, parentSchema }: ErrorObject): string {
  switch (keyword) {
    case 'type':
      return `must be ${typeWords(params.type)}`
    case 'enum':
      return `must be one of ${params.allowedValues.join(', ')}`
    case 'const':
      return `must be ${JSON.stringify(params.allowedValue)}`
    case 'format':
      return `must be ${formatWords[params.format] ?? `in the form ${params.format}`}`
    case 'minimum':
    case 'exclusiveMinimum':
      return `must be at least ${params.limit}`
    case 'maximum':
    case 'exclusiveMaximum':
      return `must be at most ${params.limit}`
    case 'minLength':
      return params.limit === 1 ? 'must not be empty' : `must have at least ${params.limit} characters`
    case 'maxLength':
      return `must have at most ${params.limit} characters`
    case 'minItems':
      return params.limit === 1 ? 'must not be empty' : `must have at least ${params.limit} entries`
    case 'maxItems':
      return `must have at most ${params.limit} entries`
    case 'pattern':
      return patternWords[params.pattern] ?? `must match ${params.pattern}`
    case 'anyOf':
    case 'oneOf':
      return `must be ${unionWords(parentSchema?.[keyword])}`
    default:
      return 'is not valid'
  }
}

type Branch = {
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: Branch[]
  maxItems?: number
}

/** Where /v3 takes null, or an empty list, for a field that is not given, that is no value to recommend. */
function unionWords(branches: Branch[] = []): string {
  const isLenient = branches.some(({ enum: only }) => only?.length === 1 && only[0] === null)
  const useful = branches.filter(
    ({ type, enum: only }) => !isLenient || (type !== 'null' && only?.[0] !== null),
  )
  return useful.flatMap(branchWords).join(' or ')
}

function branchWords({ type, const: only, enum: allowed, anyOf, maxItems }: Branch): string[] {
  if (only !== undefined) return [JSON.stringify(only)]
  if (allowed) return [`one of ${allowed.join(', ')}`]
  if (anyOf) return [unionWords(anyOf)]
  if (maxItems === 0) return []
  return [typeWords(type ?? 'valid')]
}
