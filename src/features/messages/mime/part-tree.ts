// The parts of a message that somebody else composed: found and put back, with all else byte for byte.
import { type HeaderField, splitMessage } from './canonical.ts'

export type Part = {
  whole: Buffer
  fields: HeaderField[]
  body: Buffer
  /** In lower case; empty where none is given. */
  kind: string
}

export type ChangePart = {
  /** Of a part that holds no others, or whose own are nobody's to change. */
  leaf: (part: Part) => Buffer | Promise<Buffer>
  /** Of one that holds others. */
  head?: (part: Part) => Buffer
}

const deepest = 10

export async function changeParts(whole: Buffer, change: ChangePart, depth = 0): Promise<Buffer> {
  const part = partOf(whole)
  const { kind, fields, body } = part
  const boundary = parameterOf(fieldValue(fields, 'content-type'), 'boundary')
  const isOpen = kind.startsWith('multipart/') && !sealed.has(kind)
  if (!isOpen || !boundary || depth === deepest) return change.leaf(part)
  const head = change.head?.(part) ?? headOf(part)
  const inner = await changedInner(body, boundary, (one) => changeParts(one, change, depth + 1))
  return Buffer.concat([head, ...inner])
}

const sealed = new Set(['multipart/signed', 'multipart/encrypted'])

function partOf(whole: Buffer): Part {
  // A part may do without a header: then its first line is empty.
  const isBare = whole.indexOf('\r\n') === 0
  const { fields, body } = isBare ? { fields: [], body: whole.subarray(2) } : splitMessage(whole)
  const kind = fieldValue(fields, 'content-type').split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return { whole, fields, body, kind }
}

export const headOf = ({ whole, body }: Part) => whole.subarray(0, whole.length - body.length)

/** What stands between two delimiters is a part; the line end before a delimiter belongs to the delimiter. */
async function changedInner(
  body: Buffer,
  boundary: string,
  changePart: (part: Buffer) => Promise<Buffer>,
): Promise<Buffer[]> {
  const pieces: Buffer[] = []
  let at = 0
  let start: number | undefined
  for (const delimiter of delimitersIn(body, boundary)) {
    const between = body.subarray(at, delimiter.start)
    pieces.push(start === undefined ? between : await changePart(between))
    pieces.push(body.subarray(delimiter.start, delimiter.end))
    at = delimiter.end
    start = delimiter.isLast ? undefined : at
    if (delimiter.isLast) break
  }
  return [...pieces, body.subarray(at)]
}

type Delimiter = { start: number; end: number; isLast: boolean }

function delimitersIn(body: Buffer, boundary: string): Delimiter[] {
  const text = body.toString('latin1')
  const escaped = boundary.replace(/[^\w]/g, '\\$&')
  return [...text.matchAll(new RegExp(`(?:^|\\r\\n)--${escaped}(--)?[ \\t]*(?:\\r\\n|$)`, 'g'))].map(
    (found) => ({
      start: found.index,
      end: found.index + found[0].length,
      isLast: found[1] !== undefined,
    }),
  )
}

export function fieldValue(fields: HeaderField[], wanted: string): string {
  const text = fields.find(({ name }) => name === wanted)?.text ?? ''
  return text.slice(text.indexOf(':') + 1).replaceAll('\r\n', '')
}

export function parameterOf(value: string, name: string): string | undefined {
  const found = new RegExp(`;\\s*${name}\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;]+))`, 'i').exec(value)
  return found?.[1]?.replace(/\\(.)/g, '$1') ?? found?.[2]
}
