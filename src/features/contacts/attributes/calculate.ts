// What calculated and global attributes come to, and what templates read of all of them. A formula that cannot be
// computed any more gives nothing.
import { LRUCache } from 'lru-cache'
import type { Db } from '../../../kernel/db.ts'
import { type Formula, FormulaFault, readFormula, readGlobalFormula } from './formula.ts'
import { type AttributeRow, type Figures, figuresOf, listAttributes, stateOfContacts } from './queries.ts'
import type { Value } from './values.ts'

type Values = Record<string, Value>

/** Adds to the values of a contact those that are calculated from them, at another time where one is given. */
export type Calculator = (values: Values, at?: Date) => Values

export async function calculatorOf(db: Db, accountId: string, now: Date): Promise<Calculator> {
  return calculatorFrom(await listAttributes(db, accountId), now)
}

/** As templates read them: with what is calculated, and categories by their labels. */
export async function readerOf(db: Db, accountId: string, now: Date): Promise<Calculator> {
  const attributes = await listAttributes(db, accountId)
  const [calculate, label] = [calculatorFrom(attributes, now), labellerFrom(attributes)]
  return (values, at) => label(calculate(values, at))
}

/** Puts labels in place of the numbers that categories are kept by. */
export async function labellerOf(db: Db, accountId: string): Promise<Labeller> {
  return labellerFrom(await listAttributes(db, accountId))
}

type Labeller = (values: Values) => Values

function labellerFrom(attributes: AttributeRow[]): Labeller {
  const labels = attributes.flatMap(({ name, type, enumeration }): [string, Map<Value, string>][] =>
    type === 'category' ? [[name, new Map(enumeration?.map(({ value, label }) => [value, label]))]] : [],
  )
  if (labels.length === 0) return (values) => values
  return (values) => {
    const known = labels.flatMap(([name, of]) => {
      const label = Object.hasOwn(values, name) && of.get(values[name] as Value)
      return typeof label === 'string' ? [[name, label]] : []
    })
    return { ...values, ...Object.fromEntries(known) }
  }
}

function calculatorFrom(attributes: AttributeRow[], now: Date): Calculator {
  const formulas = attributes.flatMap((one): [string, Formula][] => {
    const formula = one.category === 'calculated' ? readOrNothing(one, attributes, readFormula) : undefined
    return formula ? [[one.name, formula]] : []
  })
  if (formulas.length === 0) return (values) => values
  return (values, at = now) => {
    const computed = formulas.map(([name, formula]) => [name, formula(values, at)] as const)
    return { ...values, ...Object.fromEntries(computed.filter(([, value]) => value !== null)) } as Values
  }
}

export type Globals = Map<string, number | null>

export async function computeGlobals(
  db: Db,
  accountId: string,
  attributes: AttributeRow[],
): Promise<Globals> {
  const asked = attributes.flatMap((one) => {
    const read = one.category === 'global' ? readOrNothing(one, attributes, readGlobalFormula) : undefined
    return read ? [{ ...read, name: one.name }] : []
  })
  if (asked.length === 0) return new Map()
  const names = [...new Set(asked.map(({ attribute }) => attribute))]
  const figures = await rememberedFigures(db, accountId, attributes, names)
  return new Map(
    asked.map(({ name, attribute, aggregate }) => {
      const column = aggregate.toLowerCase() as Exclude<keyof Figures, 'attribute'>
      const text = figures.get(attribute)?.[column] ?? null
      const value = text === null ? Number.NaN : Number(text)
      return [name, Number.isFinite(value) ? value : null]
    }),
  )
}

const remembered = new LRUCache<string, Map<string, Figures>>({ max: 200, ttl: 60_000 })

/** All contacts are read for them: for a minute, and until a contact or an attribute changes, once is enough. */
async function rememberedFigures(db: Db, accountId: string, attributes: AttributeRow[], names: string[]) {
  const { state } = await stateOfContacts(db, accountId)
  const key = JSON.stringify([accountId, state, attributes])
  const known = remembered.get(key)
  if (known) return known
  const figures = new Map((await figuresOf(db, accountId, names)).map((one) => [one.attribute, one]))
  remembered.set(key, figures)
  return figures
}

function readOrNothing<T>(
  { formula }: AttributeRow,
  attributes: AttributeRow[],
  read: (text: string, attributes: AttributeRow[]) => T,
): T | undefined {
  try {
    return formula === null ? undefined : read(formula, attributes)
  } catch (error) {
    if (error instanceof FormulaFault) return undefined
    throw error
  }
}
