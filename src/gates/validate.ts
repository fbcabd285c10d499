// Every fault at once, each with its place and, for an unknown field, the name that was probably meant.
import type { TObject, TSchema } from 'typebox'
import { type Check, checkMaker, isLookedAtWhole } from '../kernel/check.ts'
import { faultsOf, faultyFields } from '../kernel/faults.ts'
import type { Operation } from '../kernel/operation.ts'
import type { Face, Fault, Refusal } from '../kernel/refusal.ts'
import { invalidParameter, missingParameter, unknownParameter } from '../kernel/refusals.ts'

export type RawInput = { params: unknown; query: unknown; body: unknown }
/** `faulty`: the fields of the body that have a fault, where all of it was looked at. */
export type Found = { faults: Fault[]; faulty?: ReadonlySet<string> }
export type Validate = (input: RawInput) => Found

type Part = 'params' | 'query' | 'body'

// Paths and queries are text, so numbers in them are read from it. Bodies of /api/v1 are taken as they are;
// /v3 reads numbers given as text and drops fields it does not know, as the provider does.
const manners = {
  text: { coerceTypes: true },
  lenientText: { coerceTypes: 'array', removeAdditional: true },
  strictBody: {},
  lenientBody: { coerceTypes: true, removeAdditional: true },
} as const

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
    return (input) => {
      const found = compiled.map(([part, check]) => findIn(op, part, check, input))
      return { faults: found.flatMap(({ faults }) => faults), faulty: found.at(-1)?.faulty }
    }
  }
}

const nothingExpected = { type: 'object', properties: {}, additionalProperties: false } as TSchema

const none: Found = { faults: [] }

function findIn(
  { public: isPublic, face, query, params }: Operation,
  part: Part,
  check: Check,
  input: RawInput,
): Found {
  if (part === 'body' && input.body === undefined) input.body = {}
  // Bodies are looked through when they are read; a query or a path may hold NUL, which no column can.
  // What needs no key has a token in its path, which is right or wrong as a whole.
  const isLooked = part === 'query' || (part === 'params' && !isPublic)
  const nul = isLooked ? nulIn(input[part]) : undefined
  if (nul !== undefined)
    return {
      faults: [{ code: 'invalid_parameter', message: `${nul} contains the character NUL.`, param: nul }],
    }
  if (part === 'query' && face === 'v3') readTruth(input.query, query)
  const twice = part === 'query' && face === 'own' ? givenTwice(input.query, query) : []
  const told = [...twice, ...writtenOddly(input[part], part === 'body' ? undefined : { params, query }[part])]
  const errors = check(input[part])
  if (errors.length + told.length === 0) return none
  const isWhole = part === 'body' && isLookedAtWhole(input.body)
  const inPath = part === 'params' ? [] : Object.keys(params?.properties ?? {})
  const others = faultsOf(errors, inPath).filter(({ param }) => !told.some((one) => one.param === param))
  return { faults: [...told, ...others], faulty: isWhole ? faultyFields(errors) : undefined }
}

/** No parameter of /api/v1 is a list: one that comes several times arrives as one. */
function givenTwice(given: unknown, known: TObject | undefined): Fault[] {
  return Object.entries(given ?? {})
    .filter(([name, value]) => Array.isArray(value) && Object.hasOwn(known?.properties ?? {}, name))
    .map(([param]) => ({ code: 'invalid_parameter', message: `${param} is given twice.`, param }))
}

/** Clients of the provider write what is true in the way of their language: True in Python, 1 in PHP. */
function readTruth(given: unknown, known: TObject | undefined): void {
  const values = given as Record<string, unknown> | undefined
  for (const [name, schema] of Object.entries(known?.properties ?? {})) {
    const value = values?.[name]
    if (!values || typeof value !== 'string' || !('type' in schema) || schema.type !== 'boolean') continue
    values[name] = truths.get(value.toLowerCase()) ?? value
  }
}

const truths = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

/** Reading text as a number would take 0x10 and 1e1 as well, and an identifier would name another object. */
function writtenOddly(given: unknown, known: TObject | undefined): Fault[] {
  return Object.entries(known?.properties ?? {}).flatMap(([param, schema]) => {
    const value = (given as Record<string, unknown> | undefined)?.[param]
    const isOdd =
      'type' in schema && schema.type === 'integer' && typeof value === 'string' && !plain.test(value)
    return isOdd ? [{ code: 'invalid_parameter', message: `${param} must be a whole number.`, param }] : []
  })
}

const plain = /^\s*-?\d+(?:\.0+)?\s*$/

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

/**
 * The error body of /v3 has one sentence and no details, so it tells the first fault. What the act found besides is
 * told with the rest, and does not change what the refusal is called.
 */
export function refusalOf(faults: Fault[], face: Face, further: Fault[] = []): Refusal {
  const [first] = faults
  const codes = new Set(faults.map(({ code }) => code))
  const isAlike = codes.size === 1 || face === 'v3'
  const make = (isAlike && first && makersByCode.get(first.code)) || invalidParameter
  const all = [...faults, ...further]
  const tellsOne = all.length === 1 || face === 'v3'
  const message = tellsOne ? first?.message : `${all.length} parameters are not valid: see details.`
  return make({ message, param: first?.param, details: all.slice(0, mostReported) })
}
