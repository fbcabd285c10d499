// From a file or the entries of a body to rows of one form, before anything in them is checked.
import { invalidParameter } from '../../../kernel/refusals.ts'
import { storable } from '../../../kernel/v3/lenient.ts'
import { CsvFault, type CsvRecord, readCsv } from './csv.ts'
import { mostRows, tooManyRows } from './refusals.ts'

/** Kept as JSON until it is worked off. `fault`: what is wrong with the row as a whole. */
export type GivenRow = {
  line: number
  email?: unknown
  extId?: unknown
  sms?: unknown
  consentDate?: unknown
  consentSource?: unknown
  /** By name in upper case. */
  attributes: Record<string, unknown>
  /** Names beside the attributes that nothing is read from. */
  ignored?: string[]
  fault?: string
}

type Field = 'email' | 'extId' | 'sms' | 'consentDate' | 'consentSource'

const fields: Record<string, Field> = {
  EMAIL: 'email',
  EXT_ID: 'extId',
  SMS: 'sms',
  CONSENT_DATE: 'consentDate',
  CONSENT_SOURCE: 'consentSource',
}
const identifiers = ['EMAIL', 'EXT_ID', 'SMS']
const singleOnly = new Set(['CONSENT_IP', 'CONSENT_TEXT', 'CONSENTIP', 'CONSENTTEXT'])

export function* rowsOfCsv(text: string): Generator<GivenRow> {
  const records = readCsv(storable(text))
  const heading = next(records)
  if (!heading) throw invalidParameter({ message: 'The file is empty: it needs a heading line.' })
  const names = readHeading(heading.cells)
  for (let record = next(records); record; record = next(records)) yield rowOf(names, record)
}

function next(records: Generator<CsvRecord>): CsvRecord | undefined {
  try {
    const { value, done } = records.next()
    return done ? undefined : value
  } catch (error) {
    throw error instanceof CsvFault ? invalidParameter({ message: error.message }) : error
  }
}

function readHeading(cells: string[]): string[] {
  const names = cells.map((cell) => cell.trim().toUpperCase())
  refuseSingleOnly(names)
  if (!names.some((name) => identifiers.includes(name)))
    throw invalidParameter({ message: 'The heading line must name a column EMAIL, EXT_ID or SMS.' })
  const seen = new Set<string>()
  const twice = names.find((name) => name !== '' && seen.size === seen.add(name).size)
  if (twice === undefined) return names
  throw invalidParameter({ message: `The heading line names ${twice.slice(0, 80)} twice.` })
}

function refuseSingleOnly(names: string[]): void {
  const found = names.find((name) => singleOnly.has(name))
  if (found === undefined) return
  throw invalidParameter({
    message:
      `${found} is not taken in bulk: a full record of consent is made with ` +
      'POST /v3/contacts or PUT /v3/contacts/{identifier}, one contact at a time.',
  })
}

// As exports write what a spreadsheet would take for a formula: with a quote before it that is not part of it.
const harmless = /^'('*[=+\-@\t\r])/

function rowOf(names: string[], { line, cells }: CsvRecord): GivenRow {
  const row: GivenRow = { line, attributes: {} }
  cells.forEach((cell, i) => {
    const name = names[i]
    if (name) setField(row, name, cell.trim() === '' ? '' : cell.replace(harmless, '$1'))
    else if (name === undefined && cell.trim() !== '') row.fault = 'has more cells than the heading'
  })
  return row
}

function setField(row: GivenRow, name: string, value: unknown): void {
  const field = fields[name]
  if (field) row[field] = value
  else row.attributes[name] = value
}

type Entry = Record<string, unknown>

const entryNames = new Set(['email', 'ext_id', 'extId', 'sms', 'SMS', 'consentDate', 'consentSource'])

/** Entries count from 1. */
export function* rowsOfJson(entries: unknown[]): Generator<GivenRow> {
  for (const [i, entry] of entries.entries()) yield rowOfEntry(entry, i + 1)
}

function rowOfEntry(entry: unknown, line: number): GivenRow {
  const row: GivenRow = { line, attributes: {} }
  if (!isObject(entry)) return { ...row, fault: 'is not an object' }
  const { attributes, ...own } = cleaned(entry) as Entry
  refuseSingleOnly(Object.keys(own).map((name) => name.toUpperCase()))
  if (isObject(attributes)) {
    refuseSingleOnly(Object.keys(attributes).map((name) => name.toUpperCase()))
    for (const [name, value] of Object.entries(attributes)) setField(row, name.trim().toUpperCase(), value)
  } else if (isGiven(attributes) && !isEmptyList(attributes)) row.fault = 'attributes must be an object'
  const named = { email: own.email, extId: own.ext_id ?? own.extId, sms: own.sms ?? own.SMS }
  const consent = { consentDate: own.consentDate, consentSource: own.consentSource }
  for (const [field, value] of Object.entries({ ...named, ...consent }))
    if (isGiven(value)) row[field as Field] = value
  const ignored = Object.keys(own).filter((name) => !entryNames.has(name))
  return ignored.length > 0 ? { ...row, ignored } : row
}

const isGiven = (value: unknown) => value !== undefined && value !== null && value !== ''
const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0

function isObject(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

// Two levels below the attributes are more than any value has.
function cleaned(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return storable(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth > 3) return null
  if (Array.isArray(value)) return value.map((one) => cleaned(one, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [storable(name), cleaned(one, depth + 1)]),
  )
}

// Few enough that a transaction is short and little is done again after a crash.
const rowsInChunk = 2_000

/** At most as many rows as an import takes. */
export function* chunksOf(rows: Iterable<GivenRow>): Generator<GivenRow[]> {
  let [chunk, count] = [[] as GivenRow[], 0]
  for (const row of rows) {
    if (++count > mostRows) throw tooManyRows()
    chunk.push(row)
    if (chunk.length < rowsInChunk) continue
    yield chunk
    chunk = []
  }
  if (chunk.length > 0) yield chunk
}
