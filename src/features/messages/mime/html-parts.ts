// HTML inside a message that somebody else composed: found, read and put back, with all else byte for byte.
import { decodeStrictly } from '../../../kernel/decode-text.ts'
import { type HeaderField, splitMessage } from './canonical.ts'
import { changeParts, fieldValue, type Part, parameterOf } from './part-tree.ts'
import { encodeText } from './transfer.ts'

type Change = (html: string) => Promise<string>

/** Nothing of a message changes that is signed or encrypted, and no part that is a file or cannot be read. */
export async function changeHtmlParts(raw: Buffer, change: Change): Promise<Buffer> {
  const { fields } = splitMessage(raw)
  if (fields.some(({ name }) => name === 'dkim-signature')) return raw
  return changeParts(raw, {
    leaf: (part) => (part.kind === 'text/html' ? changedHtml(part, change) : part.whole),
  })
}

async function changedHtml({ whole, fields, body }: Part, change: Change): Promise<Buffer> {
  if (isFile(fields)) return whole
  const charset = parameterOf(fieldValue(fields, 'content-type'), 'charset')
  const html = textOf(body, fieldValue(fields, 'content-transfer-encoding'), charset)
  const wanted = html === undefined ? undefined : await change(html)
  if (wanted === undefined || wanted === html) return whole
  const encoded = encodeText(wanted)
  const head = fields
    .filter(({ name }) => name !== 'content-transfer-encoding' && name !== 'content-type')
    .map(({ text }) => `${text}\r\n`)
  const own = `Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: ${encoded.encoding}\r\n\r\n`
  return Buffer.from(head.join('') + own + encoded.body, 'latin1')
}

// Some programs call a file "inline", or give it a name and say no more.
const named = /;\s*(?:file)?name(?:\*\d*\*?)?\s*=/i

function isFile(fields: HeaderField[]): boolean {
  const [type, disposition] = [fieldValue(fields, 'content-type'), fieldValue(fields, 'content-disposition')]
  return /^\s*attachment/i.test(disposition) || named.test(type) || named.test(disposition)
}

// Undefined for a character set or an encoding that nobody knows, and octets that are none of it.
function textOf(body: Buffer, encoding: string, charset = 'us-ascii'): string | undefined {
  const octets = decoded(body, encoding.trim().toLowerCase())
  // Octets that have no place in ASCII are UTF-8 most often; where they are not, the reader's program may know better.
  return octets && decodeStrictly(octets, /^(?:us-)?ascii$/i.test(charset) ? 'utf-8' : charset)
}

function decoded(body: Buffer, encoding: string): Buffer | undefined {
  if (encoding === 'base64') return Buffer.from(body.toString('latin1'), 'base64')
  if (/^(|7bit|8bit|binary)$/.test(encoding)) return body
  if (encoding !== 'quoted-printable') return undefined
  const text = body
    .toString('latin1')
    // Looked for from its first blank only: from each blank of a long line it would take the square of its length.
    .replace(/(?<![ \t])[ \t]+(?=\r\n|$)/g, '')
    .replace(/=\r\n/g, '')
  return Buffer.from(
    text.replace(/=([\da-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )
}
