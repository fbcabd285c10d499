// One row of an import, checked: what is to be kept of it, or why nothing is.
import { normalEmail } from '../../../kernel/email-address.ts'
import { oneLine } from '../../../kernel/v3/lenient.ts'
import { type Attribute, readValue, type Value } from '../attributes/values.ts'
import { isToCome, readConsentDate } from '../contacts/contact-body.ts'
import { readPhone } from '../contacts/read-ref.ts'
import type { GivenRow } from './given-rows.ts'

export type ReadRow = {
  line: number
  email: string | null
  extId: string | null
  sms: string | null
  /** null: the attribute is emptied. */
  values: [string, Value | null][]
  consent: { date: Date | null; source: string | null } | null
}

export class RowFault extends Error {}

export type ReadOptions = { attributes: Map<string, Attribute>; emptyAttributes: boolean; now: Date }

const longestExtId = 255
const longestSource = 255

/** Throws a RowFault that says what is wrong. */
export function readRow(row: GivenRow, options: ReadOptions): ReadRow {
  if (row.fault !== undefined) throw new RowFault(row.fault)
  const identifiers = { email: readEmail(row.email), extId: readExtId(row.extId), sms: readSms(row.sms) }
  if (identifiers.email === null && identifiers.extId === null && identifiers.sms === null)
    throw new RowFault('email is missing')
  const consent = readConsent(row, options.now)
  return { line: row.line, ...identifiers, consent, values: readValues(row.attributes, options) }
}

function textOf(given: unknown, name: string): string | null {
  if (given === undefined || given === null) return null
  if (typeof given !== 'string' && typeof given !== 'number') throw new RowFault(`${name} must be a text`)
  return String(given).trim() || null
}

function readEmail(given: unknown): string | null {
  const text = textOf(given, 'email')
  if (text === null) return null
  const email = normalEmail(text)
  if (email === undefined) throw new RowFault('email is not a valid address')
  return email
}

function readExtId(given: unknown): string | null {
  const text = textOf(given, 'EXT_ID')
  if (text !== null && text.length > longestExtId)
    throw new RowFault(`EXT_ID has over ${longestExtId} characters`)
  return text
}

function readSms(given: unknown): string | null {
  const text = textOf(given, 'SMS')
  if (text === null) return null
  const sms = readPhone(text)
  if (sms === undefined) throw new RowFault('SMS is not a telephone number with its country')
  return sms
}

function readConsent(row: GivenRow, now: Date): ReadRow['consent'] {
  const date = textOf(row.consentDate, 'CONSENT_DATE')
  const source = oneLine(textOf(row.consentSource, 'CONSENT_SOURCE') ?? '').slice(0, longestSource) || null
  if (date === null) return source === null ? null : { date, source }
  const at = readConsentDate(date)
  if (at && isToCome(at, now)) throw new RowFault('CONSENT_DATE is in the future')
  if (at) return { date: at, source }
  throw new RowFault('CONSENT_DATE must be a date such as 2026-11-15 or 15/11/2026')
}

function readValues(given: Record<string, unknown>, options: ReadOptions): ReadRow['values'] {
  const values: ReadRow['values'] = []
  for (const [name, raw] of Object.entries(given)) {
    const attribute = options.attributes.get(name)
    if (!attribute) continue
    const read = readValue(attribute, raw)
    if ('fault' in read) throw new RowFault(`${name} ${read.fault}`)
    if (options.emptyAttributes || !isBlank(read.value)) values.push([name, read.value])
  }
  return values
}

/** No choice of several is one, as a blank cell is. */
const isBlank = (value: Value | null) => value === null || (Array.isArray(value) && value.length === 0)
