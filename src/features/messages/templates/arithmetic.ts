import { toValue } from 'liquidjs'
import { countTexts } from './counted.ts'
import { printed } from './values.ts'

const isNothing = (value: unknown) => value === undefined || value === null || value === ''

/** What is absent counts as zero, text that is no number as none. */
export function asNumber(value: unknown): number {
  if (isNothing(value)) return 0
  if (typeof value === 'number' || typeof value === 'boolean') return Number(value)
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN
}

type Calculation = (left: number, right: number) => number

/** Prints nothing where there is no result. */
export const calculated = (calculate: Calculation) => (left: unknown, right: unknown) => {
  const [one, other] = [toValue(left), toValue(right)]
  if (isNothing(one) && isNothing(other)) return null
  const result = calculate(asNumber(one), asNumber(other))
  return Number.isFinite(result) ? tidy(result) : null
}

// 0.1 + 0.2 is 0.30000000000000004.
const tidy = (result: number) => (Number.isInteger(result) ? result : Number(result.toPrecision(15)))

const added = calculated((one, other) => one + other)

/** Texts that are no numbers are put together. */
export function sumOf(left: unknown, right: unknown): unknown {
  const [one, other] = [toValue(left), toValue(right)]
  if (!Number.isNaN(asNumber(one)) && !Number.isNaN(asNumber(other))) return added(one, other)
  return countTexts([one, other], () => printed(one) + printed(other))
}

/** Whether there is an order between the two, and which: numbers and moments before texts. */
export function compared(left: unknown, right: unknown): number {
  const [one, other] = [toValue(left), toValue(right)]
  if (isNothing(one) || isNothing(other)) return Number.NaN
  const isDated = one instanceof Date || other instanceof Date
  const difference = isDated ? moment(one) - moment(other) : asNumber(one) - asNumber(other)
  if (!Number.isNaN(difference) || typeof one !== 'string' || typeof other !== 'string') return difference
  return countTexts([one, other], () => (one === other ? 0 : one < other ? -1 : 1))
}

const moment = (value: unknown) =>
  value instanceof Date || typeof value === 'string' ? new Date(value).getTime() : Number.NaN
