// The formulas of calculated attributes: arithmetic over the contact's own numbers and dates. Days count as numbers
// when one date is taken from another; a date plus a number is a date.
import type { Attribute, Value } from './values.ts'

/** A number, or a day as its number of days since 1970. */
type Result = { number: number } | { day: number } | null
type Kind = 'number' | 'day'
type Run = (values: Record<string, Value>, today: number) => Result
type Node = { kind: Kind; run: Run }

export type Formula = (values: Record<string, Value>, now: Date) => number | string | null

/** What makes a formula one that cannot be computed; the message says what. */
export class FormulaFault extends Error {}

export const aggregates = ['COUNT', 'SUM', 'AVERAGE', 'MIN', 'MAX'] as const
export type Aggregate = (typeof aggregates)[number]

const dayMs = 86_400_000
const deepest = 50

type Reader = { tokens: string[]; at: number; depth: number; known: Map<string, Attribute> }

/** Throws a FormulaFault. */
export function readFormula(text: string, attributes: Attribute[]): Formula {
  const reader = readerOf(text, attributes)
  const node = sum(reader)
  if (reader.at < reader.tokens.length) throw new FormulaFault(`${next(reader)} is not expected there`)
  return (values, now) => shown(node.run(values, Math.floor(now.getTime() / dayMs)))
}

/** FUNCTION[ATTRIBUTE] over all contacts. Throws a FormulaFault. */
export function readGlobalFormula(text: string, attributes: Attribute[]) {
  const reader = readerOf(text, attributes)
  const found = aggregate(reader)
  if (found && reader.at === reader.tokens.length) return found
  throw new FormulaFault(`it must be one of ${aggregates.join(', ')} of one attribute, such as SUM[AMOUNT]`)
}

function readerOf(text: string, attributes: Attribute[]): Reader {
  const known = new Map(attributes.map((one) => [one.name, one]))
  return { tokens: tokensOf(text.toUpperCase(), known), at: 0, depth: 0, known }
}

const token = /\s*(?:(\d+(?:\.\d+)?|\.\d+)|([A-Z][A-Z0-9_-]*)|(.))/suy

function tokensOf(given: string, known: Map<string, Attribute>): string[] {
  const text = given.trimEnd()
  const tokens: string[] = []
  token.lastIndex = 0
  for (let found = token.exec(text); found; found = token.exec(text)) {
    const [whole, number, word, other = ''] = found
    const taken = word === undefined ? (number ?? other) : nameIn(word, known)
    token.lastIndex -= whole.trimStart().length - taken.length
    tokens.push(taken)
  }
  return tokens
}

/** Names may have a hyphen in them, which otherwise is a minus. */
function nameIn(word: string, known: Map<string, Attribute>): string {
  let name = word
  while (!known.has(name) && name.includes('-')) name = name.slice(0, name.lastIndexOf('-'))
  return name
}

const peek = ({ tokens, at }: Reader) => tokens[at]
const next = (reader: Reader) => reader.tokens[reader.at++] ?? 'the end'

function expect(reader: Reader, wanted: string): void {
  const found = next(reader)
  if (found !== wanted) throw new FormulaFault(`${wanted} is expected instead of ${found}`)
}

function sum(reader: Reader): Node {
  if (++reader.depth > deepest) throw new FormulaFault('it is nested too deeply')
  let left = product(reader)
  for (let sign = peek(reader); sign === '+' || sign === '-'; sign = peek(reader)) {
    reader.at++
    left = sign === '+' ? added(left, product(reader)) : taken(left, product(reader))
  }
  reader.depth--
  return left
}

function product(reader: Reader): Node {
  let left = factor(reader)
  for (let sign = peek(reader); sign === '*' || sign === '/'; sign = peek(reader)) {
    reader.at++
    left = multiplied(left, factor(reader), sign)
  }
  return left
}

function factor(reader: Reader): Node {
  const found = aggregate(reader)
  if (found) return ofOne(found)
  const word = next(reader)
  if (word === '(') {
    const inner = sum(reader)
    expect(reader, ')')
    return inner
  }
  if (word === '-') return taken(constant(0), factor(reader))
  if (word === 'NOW') return today(reader)
  if (/^[\d.]+$/.test(word)) return constant(Number(word))
  return named(reader, word)
}

function constant(number: number): Node {
  return { kind: 'number', run: () => ({ number }) }
}

/** NOW(), or NOW(-7) for a week ago. */
function today(reader: Reader): Node {
  expect(reader, '(')
  const offset = peek(reader) === ')' ? constant(0) : sum(reader)
  expect(reader, ')')
  return added({ kind: 'day', run: (_, day) => ({ day }) }, offset)
}

function attributeNamed(reader: Reader, name: string): Attribute {
  const attribute = reader.known.get(name)
  if (!attribute) throw new FormulaFault(`${name} is no attribute and no part of a formula`)
  if (attribute.type !== null) return attribute
  throw new FormulaFault(`${name} is calculated itself`)
}

function named(reader: Reader, name: string): Node {
  const { type } = attributeNamed(reader, name)
  if (type === 'float') return { kind: 'number', run: (values) => numberIn(values, name) }
  if (type === 'date') return { kind: 'day', run: (values) => dayIn(values, name) }
  throw new FormulaFault(`${name} is neither a number nor a date`)
}

function numberIn(values: Record<string, Value>, name: string): Result {
  const value = values[name]
  return typeof value === 'number' ? { number: value } : null
}

function dayIn(values: Record<string, Value>, name: string): Result {
  const value = values[name]
  const at = typeof value === 'string' ? Date.parse(`${value}T00:00:00Z`) : Number.NaN
  return Number.isNaN(at) ? null : { day: Math.floor(at / dayMs) }
}

type Aggregated = { aggregate: Aggregate; attribute: string }

function aggregate(reader: Reader): Aggregated | undefined {
  const word = peek(reader)
  const found = aggregates.find((one) => one === word || (one === 'AVERAGE' && word === 'AVG'))
  const opening = reader.tokens[reader.at + 1]
  if (!found || (opening !== '[' && opening !== '(')) return undefined
  reader.at += 2
  const { name, type } = attributeNamed(reader, next(reader))
  if (peek(reader) === ',') throw new FormulaFault(`conditions within ${found} cannot be computed`)
  expect(reader, opening === '[' ? ']' : ')')
  if (found === 'COUNT' || type === 'float') return { aggregate: found, attribute: name }
  throw new FormulaFault(`${name} is not a number`)
}

/** A contact has one value of an attribute, or none. */
function ofOne({ aggregate: how, attribute }: Aggregated): Node {
  const run: Run = (values) => {
    if (how === 'COUNT') return { number: values[attribute] === undefined ? 0 : 1 }
    return numberIn(values, attribute) ?? (how === 'SUM' ? { number: 0 } : null)
  }
  return { kind: 'number', run }
}

const amount = (result: Result) => (result === null ? null : 'day' in result ? result.day : result.number)

function combined(kind: Kind, left: Node, right: Node, work: (a: number, b: number) => number): Node {
  const run: Run = (values, day) => {
    const [a, b] = [amount(left.run(values, day)), amount(right.run(values, day))]
    if (a === null || b === null) return null
    return kind === 'day' ? { day: work(a, b) } : { number: work(a, b) }
  }
  return { kind, run }
}

function added(left: Node, right: Node): Node {
  if (left.kind === 'day' && right.kind === 'day') throw new FormulaFault('two dates cannot be added')
  const kind = left.kind === 'day' || right.kind === 'day' ? 'day' : 'number'
  return combined(kind, left, right, (a, b) => a + b)
}

function taken(left: Node, right: Node): Node {
  if (left.kind === 'number' && right.kind === 'day')
    throw new FormulaFault('a date cannot be taken from a number')
  const kind = left.kind === 'day' && right.kind === 'number' ? 'day' : 'number'
  return combined(kind, left, right, (a, b) => a - b)
}

function multiplied(left: Node, right: Node, sign: '*' | '/'): Node {
  if (left.kind === 'day' || right.kind === 'day')
    throw new FormulaFault('a date cannot be multiplied or divided')
  return combined('number', left, right, sign === '*' ? (a, b) => a * b : (a, b) => a / b)
}

// From the year 1 to the year 9999.
const [firstDay, lastDay] = [-719_162, 2_932_896]

function shown(result: Result): number | string | null {
  if (result === null) return null
  if ('number' in result) return Number.isFinite(result.number) ? result.number : null
  const day = Math.floor(result.day)
  return day >= firstDay && day <= lastDay ? new Date(day * dayMs).toISOString().slice(0, 10) : null
}
