// Every fault at once, each with its place and, for an unknown field, the name that was probably meant.
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { TSchema } from 'typebox'
import { addAllFormats } from '../kernel/formats.ts'
import type { Operation } from '../kernel/operation.ts'
import type { Face, Fault, Refusal } from '../kernel/refusal.ts'
import { invalidParameter, missingParameter, unknownParameter } from '../kernel/refusals.ts'
import { faultsOf } from './faults.ts'

export type RawInput = { params: unknown; query: unknown; body: unknown }
export type Validate = (input: RawInput) => Fault[]

type Part = 'params' | 'query' | 'body'

const shared = { useDefaults: true, strict: false, verbose: true } as const

// Paths and queries are text, so numbers in them are read from it. Bodies of /api/v1 are taken as they are;
// /v3 reads numbers given as text and drops fields it does not know, as the provider does.
const manners = {
  text: { coerceTypes: true },
  lenientText: { coerceTypes: 'array', removeAdditional: true },
  strictBody: {},
  lenientBody: { coerceTypes: true, removeAdditional: true },
} as const

type Check = (value: unknown) => ErrorObject[]

// What has more values than this is looked at up to its first fault: a body of megabytes can have millions of them.
const mostValues = 5_000

function checkMaker(manner: (typeof manners)[keyof typeof manners]) {
  const [every, first] = [true, false].map((allErrors) =>
    addAllFormats(new Ajv({ ...shared, ...manner, allErrors })),
  ) as [Ajv, Ajv]
  return (schema: TSchema): Check => {
    const checkEvery = every.compile(schema)
    // Compiled at its first need, which most operations never have.
    let checkFirst: ValidateFunction | undefined
    const checkFor = (value: unknown) => {
      if (!hasMoreValues(value, mostValues)) return checkEvery
      checkFirst ??= first.compile(schema)
      return checkFirst
    }
    return (value) => {
      const check = checkFor(value)
      return check(value) ? [] : (check.errors as ErrorObject[])
    }
  }
}

function hasMoreValues(value: unknown, most: number): boolean {
  const waiting = [value]
  for (let seen = 0; waiting.length > 0; seen++) {
    if (seen + waiting.length > most) return true
    const next = waiting.pop()
    // The octets of a mail are one value.
    if (next === null || typeof next !== 'object' || ArrayBuffer.isView(next)) continue
    if (Array.isArray(next) && next.length > most) return true
    const inside = Object.values(next)
    if (inside.length > most) return true
    waiting.push(...inside)
  }
  return false
}

export function validatorMaker() {
  const makers = {
    text: checkMaker(manners.text),
    lenientText: checkMaker(manners.lenientText),
    strictBody: checkMaker(manners.strictBody),
    lenientBody: checkMaker(manners.lenientBody),
  }

  return (op: Operation): Validate => {
    const lenient = op.face === 'v3'
    const text = lenient ? makers.lenientText : makers.text
    const checks: [Part, TSchema | undefined, (schema: TSchema) => Check][] = [
      ['params', op.params, text],
      ['query', op.query ?? (lenient ? undefined : nothingExpected), text],
      ['body', op.body, lenient ? makers.lenientBody : makers.strictBody],
    ]
    const compiled = checks.flatMap(([part, schema, make]) => (schema ? [[part, make(schema)] as const] : []))
    return (input) => compiled.flatMap(([part, check]) => faultsIn(op, part, check, input))
  }
}

const nothingExpected = { type: 'object', properties: {}, additionalProperties: false } as TSchema

function faultsIn({ public: isPublic }: Operation, part: Part, check: Check, input: RawInput): Fault[] {
  if (part === 'body' && input.body === undefined) input.body = {}
  // Bodies are looked through when they are read; a query or a path may hold NUL, which no column can.
  // What needs no key has a token in its path, which is right or wrong as a whole.
  const isLooked = part === 'query' || (part === 'params' && !isPublic)
  const nul = isLooked ? nulIn(input[part]) : undefined
  if (nul !== undefined)
    return [{ code: 'invalid_parameter', message: `${nul} contains the character NUL.`, param: nul }]
  return faultsOf(check(input[part]))
}

function nulIn(part: unknown): string | undefined {
  const holds = ([name, value]: [string, unknown]) =>
    [name, value].flat().some((one) => String(one).includes('\0'))
  return Object.entries(part ?? {})
    .find(holds)?.[0]
    .replaceAll('\0', '')
}

const mostReported = 50
const makersByCode = new Map(
  [invalidParameter, missingParameter, unknownParameter].map((make) => [make.declaration.code, make]),
)

/** The error body of /v3 has one sentence and no details, so it tells the first fault. */
export function refusalOf(faults: Fault[], face: Face): Refusal {
  const [first] = faults
  const codes = new Set(faults.map(({ code }) => code))
  const isAlike = codes.size === 1 || face === 'v3'
  const make = (isAlike && first && makersByCode.get(first.code)) || invalidParameter
  const tellsOne = faults.length === 1 || face === 'v3'
  const message = tellsOne ? first?.message : `${faults.length} parameters are not valid: see details.`
  return make({ message, param: first?.param, details: faults.slice(0, mostReported) })
}
