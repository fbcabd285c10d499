// From what a caller says to a condition on contacts: the attribute is one of the account's, the operator fits its
// type, and the value has the form in which contacts hold it.
import type { Ctx } from '../../../kernel/ctx.ts'
import { normalEmail } from '../../../kernel/email-address.ts'
import { invalidParameter, missingParameter } from '../../../kernel/refusals.ts'
import { given } from '../../../kernel/v3/lenient.ts'
import { holdAttribute, listAttributes } from '../attributes/queries.ts'
import {
  type Attribute,
  type AttributeType,
  ownAttributes,
  readValue,
  type Value,
} from '../attributes/values.ts'
import { readPhone } from '../contacts/read-ref.ts'
import { type Condition, type Operator, operators } from './condition-queries.ts'

const always: Operator[] = ['eq', 'neq', 'is_set', 'is_not_set', 'in']

const fitting: Record<AttributeType, Operator[]> = {
  text: [...always, 'contains'],
  id: [...always, 'contains'],
  user: [...always, 'contains'],
  float: [...always, 'gt', 'lt'],
  date: [...always, 'gt', 'lt', 'before', 'after'],
  boolean: always,
  category: always,
  'multiple-choice': [...always, 'contains'],
}

const mostValues = 1000

export type AskedCondition = { attribute?: string; operator?: string; value?: unknown }

export async function readCondition(ctx: Ctx, asked: AskedCondition): Promise<Condition> {
  const attribute = await readAttribute(ctx, asked.attribute)
  const operator = readOperator(attribute, asked.operator)
  return { attribute: attribute.name, operator, value: readOperand(attribute, operator, asked.value) }
}

async function readAttribute(ctx: Ctx, asked: string | undefined): Promise<Attribute> {
  const name = given(asked)?.trim().toUpperCase()
  if (name === undefined) throw missingParameter({ message: 'attribute is missing', param: 'attribute' })
  await holdAttribute(ctx.db, ctx.caller.accountId, name)
  const known = [...ownAttributes, ...(await listAttributes(ctx.db, ctx.caller.accountId))]
  const found = known.find((one) => one.name === name)
  if (found) return found
  throw invalidParameter({
    message: `attribute must be EMAIL or an attribute of the account; ${name.slice(0, 64)} is none`,
    param: 'attribute',
  })
}

function readOperator({ name, type }: Attribute, asked: string | undefined): Operator {
  const word = given(asked)
  if (word === undefined) throw missingParameter({ message: 'operator is missing', param: 'operator' })
  if (type === null) {
    throw invalidParameter({
      message: `${name} is calculated; contacts have no value of it`,
      param: 'attribute',
    })
  }
  const operator = fitting[type].find((one) => one === word)
  if (operator) return operator
  const isKnown = operators.some((one) => one === word)
  const which = isKnown ? `operator ${word} does not fit ${name}, which is of type ${type}: it` : 'operator'
  throw invalidParameter({
    message: `${which} must be one of ${fitting[type].join(', ')}`,
    param: 'operator',
  })
}

function readOperand(attribute: Attribute, operator: Operator, asked: unknown): Condition['value'] {
  if (operator === 'is_set' || operator === 'is_not_set') return null
  if (operator !== 'in') return readOne(attribute, operator, asked)
  const list = [asked].flat()
  if (list.length > mostValues)
    throw invalidParameter({ message: `value must have at most ${mostValues} entries`, param: 'value' })
  if (list.length === 0) throw missingParameter({ message: 'value is missing', param: 'value' })
  const values = list.flatMap((one) => readOne(attribute, operator, one))
  return [...new Set(values)]
}

function readOne(attribute: Attribute, operator: Operator, asked: unknown): Value {
  const plain = plainOf(asked)
  if (plain === undefined)
    throw invalidParameter({
      message: 'value must be a text, a number, true, false or a list',
      param: 'value',
    })
  const read = readValue(attribute, plain)
  if ('fault' in read) throw invalidParameter({ message: `value ${read.fault}`, param: 'value' })
  if (read.value === null || [read.value].flat().length === 0)
    throw missingParameter({ message: 'value is missing', param: 'value' })
  return operator === 'contains' ? read.value : inColumnForm(attribute.name, read.value)
}

type Plain = string | number | boolean | null | (string | number | boolean)[]

/** What JSON has besides objects. */
function plainOf(asked: unknown): Plain | undefined {
  if (asked === null || asked === undefined) return null
  if (typeof asked === 'string' || typeof asked === 'number' || typeof asked === 'boolean') return asked
  if (!Array.isArray(asked) || asked.length > mostValues) return undefined
  const entries = asked.map((one) => (Array.isArray(one) ? undefined : plainOf(one)))
  return entries.every((one) => one !== undefined && one !== null) ? (entries as Plain) : undefined
}

/** Addresses and telephone numbers are held in one form each; a part of one stays as it is. */
export function inColumnForm(name: string, value: Value): Value {
  if (typeof value !== 'string') return value
  if (name === 'EMAIL') return normalEmail(value) ?? value.trim().toLowerCase()
  return name === 'SMS' ? (readPhone(value) ?? value) : value
}
