// Amounts of money are decimal text from the request to the database: never a binary fraction.
import { invalidParameter } from '../../../kernel/refusals.ts'

const known = new Set(Intl.supportedValuesOf('currency'))
export const usualCurrency = 'EUR'

export function readCurrency(given: string | undefined): string {
  const currency = (given ?? usualCurrency).trim().toUpperCase()
  if (known.has(currency)) return currency
  throw invalidParameter({
    message: 'currency must be a code of ISO 4217, such as EUR.',
    param: 'currency',
  })
}

const decimal = /^(\d{1,10})(?:\.(\d{1,20}))?$/

/** A number is read as it is written: 0.1 is a tenth. How many decimals there may be hangs on the currency. */
export function readAmount(given: unknown, currency: string | undefined): string {
  const [, whole, fraction = ''] = decimal.exec(writtenAs(given)) ?? []
  if (whole === undefined)
    throw invalidParameter({
      message: 'amount must be a decimal number from 0 to 9999999999, such as 49.90.',
      param: 'amount',
    })
  const digits = fraction.replace(/0+$/, '')
  const most = currency === undefined ? digits.length : decimalsOf(currency)
  if (digits.length > most)
    throw invalidParameter({ message: `amount may have ${most} decimals in ${currency}.`, param: 'amount' })
  return digits === '' ? whole : `${whole}.${digits}`
}

function writtenAs(given: unknown): string {
  return typeof given === 'number' || typeof given === 'string' ? String(given).trim() : ''
}

function decimalsOf(currency: string): number {
  const { maximumFractionDigits } = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
  }).resolvedOptions()
  return maximumFractionDigits ?? 2
}
