// Adding people to write to, one or many: an address that is known is updated.
import { type Static, Type } from 'typebox'
import { checkMaker } from '../../../kernel/check.ts'
import type { Ctx } from '../../../kernel/ctx.ts'
import { normalEmail } from '../../../kernel/email-address.ts'
import { faultsOf } from '../../../kernel/faults.ts'
import { invalidParameter, missingParameter } from '../../../kernel/refusals.ts'
import { closed } from '../../../kernel/schema.ts'
import { mapOf, oneLine, optional, optionalMap, storable } from '../../../kernel/v3/lenient.ts'
import { insertProspects, type ProspectFields, updateProspects } from './queries.ts'

const Short = optional(Type.String({ maxLength: 255 }))

export const prospectFields = {
  email: Type.Optional(Type.String({ maxLength: 320 })),
  firstName: Short,
  lastName: Short,
  company: Short,
  attributes: optionalMap(Type.Unknown()),
  source: optional(
    Type.String({ maxLength: 500, description: 'Where the address is from; the first message tells' }),
  ),
}

const ProspectGiven = closed(prospectFields)
export type ProspectGiven = Static<typeof ProspectGiven>

export const mostAtOnce = 1_000
const mostAttributes = 100
const longestAttributes = 20_000

/** One of many: what it holds is checked by itself, since one that is faulty must not keep the others. */
export const ProspectEntry = Type.Unsafe<unknown>({
  description: 'The fields of one prospect; one that does not fit is skipped',
  properties: Object.fromEntries(Object.keys(prospectFields).map((name) => [name, {}])),
})

let check: ReturnType<ReturnType<typeof checkMaker>> | undefined

/** A sentence about what is wrong with it instead. */
export function readEntry(entry: unknown): ProspectFields | string {
  if (entry === null || typeof entry !== 'object' || Array.isArray(entry)) return 'it is not an object'
  check ??= checkMaker({ coerceTypes: true, removeAdditional: true })(ProspectGiven)
  const [fault] = faultsOf(check(entry))
  return fault ? fault.message.replace(/\.$/, '') : readProspect(entry)
}

function readProspect(one: ProspectGiven): ProspectFields | string {
  const email = normalEmail(one.email ?? '')
  if (email === undefined) return one.email?.trim() ? 'email is not valid' : 'email is missing'
  const attributes = one.attributes === undefined || one.attributes === null ? null : mapOf(one.attributes)
  const fault = attributes && faultOf(attributes)
  if (fault) return fault
  return {
    email,
    firstName: lineOf(one.firstName),
    lastName: lineOf(one.lastName),
    company: lineOf(one.company),
    attributes: attributes && JSON.parse(storable(JSON.stringify(attributes)).replaceAll('\\u0000', '')),
    source: lineOf(one.source),
  }
}

function faultOf(attributes: Record<string, unknown>): string | undefined {
  if (Object.keys(attributes).length > mostAttributes)
    return `attributes must have at most ${mostAttributes} entries`
  if (JSON.stringify(attributes).length > longestAttributes) return 'attributes are too long'
  return undefined
}

const lineOf = (text: string | null | undefined) => (text === undefined ? null : oneLine(text ?? ''))

export function readOneProspect(one: ProspectGiven): ProspectFields {
  const read = readProspect(one)
  if (typeof read !== 'string') return read
  const refused = read.endsWith(' is missing') ? missingParameter : invalidParameter
  throw refused({ message: read, param: read.split(' ')[0] })
}

/** Those of one address become one, as if they had come one after the other. */
function merged(rows: ProspectFields[]): ProspectFields[] {
  const byEmail = new Map<string, ProspectFields>()
  for (const one of rows) {
    const before = byEmail.get(one.email)
    byEmail.set(one.email, before ? added(before, one) : one)
  }
  return [...byEmail.values()]
}

const added = (before: ProspectFields, one: ProspectFields): ProspectFields => ({
  email: one.email,
  firstName: one.firstName ?? before.firstName,
  lastName: one.lastName ?? before.lastName,
  company: one.company ?? before.company,
  attributes: one.attributes === null ? before.attributes : { ...before.attributes, ...one.attributes },
  source: one.source ?? before.source,
})

export type SavedProspect = { email: string; id: number; outcome: 'created' | 'updated' }

export async function saveProspects(ctx: Ctx, rows: ProspectFields[]): Promise<Map<string, SavedProspect>> {
  const { accountId } = ctx.caller
  const saved = new Map<string, SavedProspect>()
  const keep = (outcome: SavedProspect['outcome'], rows: { id: string; email: string }[]) => {
    for (const { id, email } of rows) saved.set(email, { email, id: Number(id), outcome })
  }
  const distinct = merged(rows)
  const left = () => distinct.filter(({ email }) => !saved.has(email))
  // One that was there and is deleted by somebody else between the two statements is added after all.
  while (left().length > 0) {
    keep('created', await insertProspects(ctx.db, accountId, left(), ctx.now))
    const known = left()
    if (known.length > 0) keep('updated', await updateProspects(ctx.db, accountId, known, ctx.now))
  }
  return saved
}
