// Declaring, changing and deleting an attribute, by what its category allows.
import { type Static, Type } from 'typebox'
import type { Ctx } from '../../../kernel/ctx.ts'
import { invalidParameter, missingParameter, notFound } from '../../../kernel/refusals.ts'
import { closed, words } from '../../../kernel/schema.ts'
import { given, oneLine, optional } from '../../../kernel/v3/lenient.ts'
import { FormulaFault, readFormula, readGlobalFormula } from './formula.ts'
import {
  type AttributeRow,
  deleteAttribute,
  insertAttribute,
  listAttributes,
  lockAttribute,
  updateAttribute,
} from './queries.ts'
import { refuseUsed } from './refuse-used.ts'
import { refuseWhileStripped, removeValues } from './strip-values.ts'
import { type AttributeType, type Category, ownAttributes, types } from './values.ts'

const longestLabel = 200
const mostChoices = 1000

export const AttributeBody = closed({
  type: Type.Optional(words(types)),
  enumeration: optional(
    Type.Array(
      closed({ value: Type.Integer(), label: Type.String({ minLength: 1, maxLength: longestLabel }) }),
      { maxItems: mostChoices },
    ),
  ),
  multiCategoryOptions: optional(
    Type.Array(Type.String({ minLength: 1, maxLength: longestLabel }), { maxItems: mostChoices }),
  ),
  value: Type.Optional(
    Type.String({ maxLength: 2000, description: 'The formula of a calculated or global one' }),
  ),
  isRecurring: optional(Type.Boolean()),
})
export type AttributeBody = Static<typeof AttributeBody>

const typesOf: Record<Category, readonly AttributeType[]> = {
  normal: ['text', 'date', 'float', 'boolean', 'multiple-choice', 'user'],
  transactional: ['text', 'date', 'float', 'boolean', 'id'],
  category: ['category'],
  calculated: [],
  global: [],
}

// They stand in columns of their own.
const reserved = new Set(['EMAIL', 'SMS', 'EXT_ID', 'CONSENT_DATE', 'CONSENT_SOURCE'])

export async function createAttribute(ctx: Ctx, at: Place, body: AttributeBody): Promise<void> {
  if (Object.keys(body).length === 0) throw missingParameter({ message: 'No inputs in the body' })
  const made = attributeOf(at, body)
  await refuseBadFormula(ctx, made)
  await refuseWhileStripped(ctx, made.name)
  if (reserved.has(made.name) || (await insertAttribute(ctx.db, ctx.caller.accountId, made, ctx.now)) === 0)
    throw invalidParameter({ message: 'Attribute name must be unique', param: 'attributeName' })
}

export type Place = { category: Category; name: string }

export function readName(given: string): string {
  const name = given.trim().toUpperCase()
  if (/^[A-Z][A-Z0-9_-]{0,49}$/.test(name)) return name
  throw invalidParameter({
    message: 'An attribute name has 1 to 50 letters, digits, _ or -, and begins with a letter',
    param: 'attributeName',
  })
}

function attributeOf({ category, name }: Place, body: AttributeBody): AttributeRow {
  const allowed = typesOf[category]
  const [only] = allowed
  const type = allowed.length === 1 && body.type === undefined ? only : body.type
  if (allowed.length > 0 && type === undefined)
    throw missingParameter({ message: 'type is missing', param: 'type' })
  if (allowed.length > 0 && type !== undefined && !allowed.includes(type))
    throw invalidParameter({ message: `type must be one of: ${allowed.join(', ')}`, param: 'type' })
  return {
    name: readName(name),
    category,
    type: allowed.length === 0 ? null : (type ?? null),
    ...choicesOf(type, body),
    formula: formulaOf(category, body),
  }
}

function choicesOf(type: AttributeType | undefined, body: AttributeBody) {
  const enumeration = type === 'category' ? readEnumeration(body.enumeration ?? []) : null
  const options = type === 'multiple-choice' ? readOptions(body.multiCategoryOptions ?? []) : null
  return { enumeration, options }
}

function readEnumeration(items: { value: number; label: string }[]) {
  if (items.length === 0) throw missingParameter({ message: 'enumeration is missing', param: 'enumeration' })
  if (new Set(items.map(({ value }) => value)).size < items.length)
    throw invalidParameter({ message: 'enumeration names a value twice', param: 'enumeration' })
  return items.map(({ value, label }) => ({ value, label: labelOf(label) }))
}

function readOptions(options: string[]): string[] {
  if (options.length === 0)
    throw missingParameter({ message: 'multiCategoryOptions is missing', param: 'multiCategoryOptions' })
  const named = [...new Set(options.map(labelOf))]
  if (named.length <= mostChoices) return named
  throw invalidParameter({
    message: `An attribute has at most ${mostChoices} options`,
    param: 'multiCategoryOptions',
  })
}

/** In one form: é may be one character or two. */
const labelOf = (text: string) => oneLine(text).normalize('NFC')

function formulaOf(category: Category, body: AttributeBody): string | null {
  if (category !== 'calculated' && category !== 'global') return null
  const formula = given(body.value)
  if (formula === undefined) throw missingParameter({ message: 'value is missing', param: 'value' })
  return formula
}

export async function changeAttribute(ctx: Ctx, at: Place, body: AttributeBody): Promise<void> {
  const found = await findAttribute(ctx, at)
  await refuseWhileStripped(ctx, found.name)
  const type = found.type ?? undefined
  const { enumeration, options } = choicesOf(type, {
    enumeration: body.enumeration ?? found.enumeration,
    // As the provider has it: options are added here, and deleted one by one.
    multiCategoryOptions: [...(found.options ?? []), ...(body.multiCategoryOptions ?? [])],
  })
  const formula = found.formula === null ? null : (given(body.value) ?? found.formula)
  const changed = { ...found, enumeration, options, formula }
  if (given(body.value) !== undefined) await refuseBadFormula(ctx, changed)
  await updateAttribute(ctx.db, ctx.caller.accountId, changed)
  await clearGone(ctx, found, changed)
}

/** A category that is taken out is taken away from the contacts that have it. */
async function clearGone(ctx: Ctx, before: AttributeRow, after: AttributeRow): Promise<void> {
  const left = new Set(after.enumeration?.map(({ value }) => value))
  const values = (before.enumeration ?? []).map(({ value }) => value).filter((value) => !left.has(value))
  if (values.length === 0) return
  await refuseUsed(ctx, { name: before.name, values })
  await removeValues(ctx, { name: before.name, choices: values })
}

async function refuseBadFormula(ctx: Ctx, { category, formula }: AttributeRow): Promise<void> {
  if (formula === null) return
  const attributes = await listAttributes(ctx.db, ctx.caller.accountId)
  try {
    if (category === 'global') readGlobalFormula(formula, attributes)
    else readFormula(formula, attributes)
  } catch (error) {
    if (!(error instanceof FormulaFault)) throw error
    throw invalidParameter({ message: `value cannot be computed: ${error.message}`, param: 'value' })
  }
}

/** With its values; the history of what they were stays. */
export async function removeAttribute(ctx: Ctx, at: Place): Promise<void> {
  const { name } = await findAttribute(ctx, at)
  await refuseUsed(ctx, { name })
  await deleteAttribute(ctx.db, ctx.caller.accountId, name)
  await removeValues(ctx, { name, choices: null })
}

/** The last choice stays: an attribute without any could hold nothing. */
export async function removeOption(ctx: Ctx, name: string, given: string): Promise<void> {
  const found = await findAttribute(ctx, { category: 'normal', name })
  const wanted = labelOf(given)
  const option = found.options?.find((one) => labelOf(one) === wanted)
  if (option === undefined) throw notFound({ message: 'Option does not exist' })
  const options = (found.options ?? []).filter((one) => one !== option)
  if (options.length === 0)
    throw invalidParameter({ message: 'The last option cannot be deleted', param: 'option' })
  await refuseUsed(ctx, { name: found.name, values: [option] })
  await updateAttribute(ctx.db, ctx.caller.accountId, { ...found, options })
  await removeValues(ctx, { name: found.name, choices: [option] })
}

async function findAttribute(ctx: Ctx, { category, name }: Place): Promise<AttributeRow> {
  const wanted = readName(name)
  await lockAttribute(ctx.db, ctx.caller.accountId, wanted)
  const all = await listAttributes(ctx.db, ctx.caller.accountId)
  const found = all.find((one) => one.name === wanted && one.category === category)
  if (found) return found
  if (ownAttributes.some((one) => one.name === wanted && one.category === category))
    throw invalidParameter({
      message: `${wanted} is of every contact and can neither be changed nor deleted`,
      param: 'attributeName',
    })
  throw notFound({ message: 'Attribute does not exist' })
}
