// The `headers` of a send: some become headers of the message, some are words to the service.
import { invalidParameter } from '../../../kernel/refusals.ts'
import { given, mapOf, storable } from '../../../kernel/v3/lenient.ts'
import { faultOfHeader, faultOfRepeated, holdsKey, repeatedHeaders } from '../../messages/mime/safe.ts'
import type { SendBody } from './send-request.ts'

export type ReadHeaders = {
  extra: [string, string][]
  /** Validate and answer, keep and send nothing. */
  isSandbox: boolean
  tag: string | undefined
  custom: string | undefined
}

// Left over in the examples that clients copied; the service writes them itself.
const ignored = /^(charset|sender\.ip|content-.*|mime-version)$/
const keyNames = ['idempotencykey', 'idempotency-key']

export function readHeaders(headers: SendBody['headers']): ReadHeaders {
  const read: ReadHeaders = { extra: [], isSandbox: false, tag: undefined, custom: undefined }
  for (const [name, value] of Object.entries(mapOf(headers))) readOne(read, name, value)
  const [repeated] = repeatedHeaders(read.extra.map(([name]) => name))
  if (repeated !== undefined) refuse(faultOfRepeated(repeated))
  return read
}

/** Those of a version take the place of those of the whole, which may be spelled otherwise. */
export function headersOf(whole: SendBody['headers'], version: SendBody['headers']): Record<string, string> {
  const own = mapOf(version)
  const replaced = new Set(Object.keys(own).map((name) => name.toLowerCase()))
  const kept = Object.entries(mapOf(whole)).filter(([name]) => !replaced.has(name.toLowerCase()))
  return { ...Object.fromEntries(kept), ...own }
}

function readOne(read: ReadHeaders, name: string, value: string): void {
  const lower = name.toLowerCase()
  if (lower === 'x-sib-sandbox') read.isSandbox = value.trim().toLowerCase() === 'drop'
  else if (lower === 'x-mailin-tag') read.tag = given(storable(value))
  else if (lower === 'x-mailin-custom') read.custom = given(storable(value))
  else if (keyNames.includes(lower) || ignored.test(lower) || holdsKey(lower) || value === '') return
  else read.extra.push([titleCase(name), checked(name, value)])
}

function checked(name: string, value: string): string {
  const fault = faultOfHeader(name, value)
  return fault === undefined ? value : refuse(fault)
}

function refuse(message: string): never {
  throw invalidParameter({ message, param: 'headers' })
}

/** x-order-id → X-Order-Id, as the provider writes them. */
function titleCase(name: string): string {
  return name.replaceAll(/[^-]+/g, (part) => part.charAt(0).toUpperCase() + part.slice(1))
}

export function idempotencyKeyIn(headers: SendBody['headers']): string | undefined {
  const found = Object.entries(mapOf(headers)).find(([name]) => keyNames.includes(name.toLowerCase()))
  return found && given(found[1])
}
