// A message that somebody else composed with octets above 127, in a form that every mail server takes (RFC 6152 §3).
// It is done before signing, whatever the upstream offers: those behind it need not offer the same.
import { isAscii, isUtf8 } from 'node:buffer'
import { splitMessage } from './canonical.ts'
import { changeParts, fieldValue, headOf, type Part } from './part-tree.ts'
import { base64Lines, encodeText } from './transfer.ts'

/** What its author signed stays as it is, and so do header fields. */
export async function toSevenBit(raw: Buffer): Promise<Buffer> {
  if (isAscii(raw)) return raw
  const { fields } = splitMessage(raw)
  return fields.some(({ name }) => name === 'dkim-signature') ? raw : encoded(raw)
}

const encoded = (raw: Buffer) => changeParts(raw, { leaf: encodedLeaf, head: plainHead })

const encodingOf = ({ fields }: Part) => fieldValue(fields, 'content-transfer-encoding').trim().toLowerCase()

const isOpaque = (part: Part) => ['', '7bit', '8bit', 'binary'].includes(encodingOf(part))

async function encodedLeaf(part: Part): Promise<Buffer> {
  const { whole, kind, body } = part
  if (isAscii(body) || !isOpaque(part)) return whole
  // RFC 2046 §5.2.1: a message inside is not encoded, but what it holds.
  if (kind === 'message/rfc822') return Buffer.concat([plainHead(part), await encoded(body)])
  if (/^(?:multipart|message)\//.test(kind)) return whole
  const { encoding, body: text } =
    isUtf8(body) && /^(?:text\/|$)/.test(kind) ? encodeText(`${body}`) : base64(body)
  return Buffer.concat([headWith(part, encoding), Buffer.from(text, 'latin1')])
}

const base64 = (body: Buffer) => ({ encoding: 'base64', body: base64Lines(body) })

/** Of a part that holds others, which speaks of the octets of all of them. */
const plainHead = (part: Part) =>
  ['8bit', 'binary'].includes(encodingOf(part)) ? headWith(part, '7bit') : headOf(part)

function headWith({ fields }: Part, encoding: string): Buffer {
  const kept = fields
    .filter(({ name }) => name !== 'content-transfer-encoding')
    .map(({ text }) => `${text}\r\n`)
  return Buffer.from(`${kept.join('')}Content-Transfer-Encoding: ${encoding}\r\n\r\n`, 'latin1')
}
