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

const shared = { allErrors: true, useDefaults: true, strict: false, verbose: true } as const

// Paths and queries are text, so numbers in them are read from it. Bodies of /api/v1 are taken as they are;
// /v3 reads numbers given as text and drops fields it does not know, as the provider does.
const makers = {
  text: () => new Ajv({ ...shared, coerceTypes: true }),
  lenientText: () => new Ajv({ ...shared, coerceTypes: 'array', removeAdditional: true }),
  strictBody: () => new Ajv({ ...shared }),
  lenientBody: () => new Ajv({ ...shared, coerceTypes: true, removeAdditional: true }),
}

export function validatorMaker() {
  const ajvs = Object.fromEntries(
    Object.entries(makers).map(([name, make]) => [name, addAllFormats(make())]),
  ) as Record<keyof typeof makers, Ajv>

  return (op: Operation): Validate => {
    const lenient = op.face === 'v3'
    const text = lenient ? ajvs.lenientText : ajvs.text
    const checks: [Part, TSchema | undefined, Ajv][] = [
      ['params', op.params, text],
      ['query', op.query ?? (lenient ? undefined : nothingExpected), text],
      ['body', op.body, lenient ? ajvs.lenientBody : ajvs.strictBody],
    ]
    const compiled = checks.flatMap(([part, schema, ajv]) =>
      schema ? [[part, ajv.compile(schema)] as const] : [],
    )
    return (input) => compiled.flatMap(([part, check]) => faultsIn(op, part, check, input))
  }
}

const nothingExpected = { type: 'object', properties: {}, additionalProperties: false } as TSchema

function faultsIn(
  { public: isPublic }: Operation,
  part: Part,
  check: ValidateFunction,
  input: RawInput,
): Fault[] {
  if (part === 'body' && input.body === undefined) input.body = {}
  // Bodies are looked through when they are read; a query or a path may hold NUL, which no column can.
  // What needs no key has a token in its path, which is right or wrong as a whole.
  const isLooked = part === 'query' || (part === 'params' && !isPublic)
  const nul = isLooked ? nulIn(input[part]) : undefined
  if (nul !== undefined)
    return [{ code: 'invalid_parameter', message: `${nul} contains the character NUL.`, param: nul }]
  if (check(input[part])) return []
  return faultsOf(check.errors as ErrorObject[])
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
