// HTML inside a message that somebody else composed: found, read and put back, with all else byte for byte.
import { type HeaderField, splitMessage } from './canonical.ts'
import { encodeText } from './transfer.ts'

type Change = (html: string) => Promise<string>

const deepest = 10

/** Nothing of a message changes that is signed or encrypted, and no part that is attached or cannot be read. */
export async function changeHtmlParts(raw: Buffer, change: Change): Promise<Buffer> {
  const { fields } = splitMessage(raw)
  return fields.some(({ name }) => name === 'dkim-signature') ? raw : changed(raw, change, 0)
}

async function changed(part: Buffer, change: Change, depth: number): Promise<Buffer> {
  const { fields, body } = splitMessage(part)
  const type = fieldValue(fields, 'content-type')
  const kind = type.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const boundary = parameterOf(type, 'boundary')
  if (kind === 'text/html')
    return changedHtml({ part, fields, body, charset: parameterOf(type, 'charset') }, change)
  const isOpen =
    kind.startsWith('multipart/') && kind !== 'multipart/signed' && kind !== 'multipart/encrypted'
  if (!isOpen || !boundary || depth === deepest) return part
  const head = part.subarray(0, part.length - body.length)
  return Buffer.concat([
    head,
    ...(await changedParts(body, boundary, (one) => changed(one, change, depth + 1))),
  ])
}

/** What stands between two delimiters is a part; the line end before a delimiter belongs to the delimiter. */
async function changedParts(
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

type Html = { part: Buffer; fields: HeaderField[]; body: Buffer; charset: string | undefined }

async function changedHtml({ part, fields, body, charset }: Html, change: Change): Promise<Buffer> {
  if (/^\s*attachment/i.test(fieldValue(fields, 'content-disposition'))) return part
  const html = textOf(body, fieldValue(fields, 'content-transfer-encoding'), charset)
  const wanted = html === undefined ? undefined : await change(html)
  if (wanted === undefined || wanted === html) return part
  const encoded = encodeText(wanted)
  const head = fields
    .filter(({ name }) => name !== 'content-transfer-encoding' && name !== 'content-type')
    .map(({ text }) => `${text}\r\n`)
  const own = `Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: ${encoded.encoding}\r\n\r\n`
  return Buffer.from(head.join('') + own + encoded.body, 'latin1')
}

function textOf(body: Buffer, encoding: string, charset = 'us-ascii'): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(decoded(body, encoding.trim().toLowerCase()))
  } catch {
    // A character set that nobody knows, or octets that are none of it.
    return undefined
  }
}

function decoded(body: Buffer, encoding: string): Buffer {
  if (encoding === 'base64') return Buffer.from(body.toString('latin1'), 'base64')
  if (encoding !== 'quoted-printable') return body
  const text = body
    .toString('latin1')
    .replace(/[ \t]+(?=\r\n|$)/g, '')
    .replace(/=\r\n/g, '')
  return Buffer.from(
    text.replace(/=([\da-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )
}

function fieldValue(fields: HeaderField[], wanted: string): string {
  const text = fields.find(({ name }) => name === wanted)?.text ?? ''
  return text.slice(text.indexOf(':') + 1).replaceAll('\r\n', '')
}

function parameterOf(value: string, name: string): string | undefined {
  const found = new RegExp(`;\\s*${name}\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;]+))`, 'i').exec(value)
  return found?.[1]?.replace(/\\(.)/g, '$1') ?? found?.[2]
}
