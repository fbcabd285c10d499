// The `headers` of a send: some become headers of the message, some are words to the service.
import { invalidParameter } from '../../../kernel/refusals.ts'
import { given, mapOf, storable } from '../../../kernel/v3/lenient.ts'
import {
  faultOfHeader,
  faultOfRepeated,
  faultOfSize,
  holdsKey,
  repeatedHeaders,
} from '../../messages/mime/safe.ts'
import { metadataLimits } from '../../messages/model.ts'
import type { SendBody } from './send-request.ts'
import { cutTag } from './tags.ts'

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
  const given = Object.entries(mapOf(headers))
  const tooMany = faultOfSize(given)
  if (tooMany !== undefined) refuse(tooMany)
  for (const [name, value] of given) readOne(read, name, value)
  const [repeated] = repeatedHeaders(read.extra.map(([name]) => name))
  if (repeated !== undefined) refuse(faultOfRepeated(repeated))
  return read
}

/** Those of a version take the place of those of the whole, which may be spelled otherwise. */
export function headersOf(whole: ReadHeaders, headers: SendBody['headers']): ReadHeaders {
  const replaced = new Set(Object.keys(mapOf(headers)).map((name) => name.toLowerCase()))
  if (replaced.size === 0) return whole
  const own = readHeaders(headers)
  const from = (name: string) => (replaced.has(name) ? own : whole)
  return {
    extra: [...whole.extra.filter(([name]) => !replaced.has(name.toLowerCase())), ...own.extra],
    isSandbox: from(special.sandbox).isSandbox,
    tag: from(special.tag).tag,
    custom: from(special.custom).custom,
  }
}

const special = { sandbox: 'x-sib-sandbox', tag: 'x-mailin-tag', custom: 'x-mailin-custom' }

function readOne(read: ReadHeaders, name: string, value: string): void {
  const lower = name.toLowerCase()
  if (lower === special.sandbox) read.isSandbox = value.trim().toLowerCase() === 'drop'
  else if (lower === special.tag) read.tag = given(cutTag(storable(value)))
  else if (lower === special.custom) read.custom = given(customOf(value))
  else if (keyNames.includes(lower) || ignored.test(lower) || holdsKey(lower) || value === '') return
  else read.extra.push([titleCase(name), checked(name, value)])
}

function customOf(value: string): string {
  if (value.length <= metadataLimits.inAll) return storable(value)
  refuse(`X-Mailin-custom must have at most ${metadataLimits.inAll} characters`)
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
