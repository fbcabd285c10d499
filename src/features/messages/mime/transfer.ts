// Content transfer encodings, RFC 2045 §6. Written byte by byte: a message costs microseconds here.

export type Encoded = { encoding: '7bit' | 'quoted-printable' | 'base64'; body: Buffer }

const tab = 9
const lf = 10
const cr = 13
const space = 32
const equals = 61
const capitalF = 70
const crlf = Buffer.from('\r\n')
const longestLine = 76
const hex = Buffer.from('0123456789ABCDEF')

/** Line ends become CRLF. */
export function encodeText(text: string): Encoded {
  const lines = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text
  const bytes = Buffer.from(lines)
  const { escapes, plain } = survey(bytes)
  if (plain && !looksLikeStructure(lines))
    return { encoding: '7bit', body: Buffer.from(lines.replaceAll('\n', '\r\n'), 'latin1') }
  // Readable as it stands while most of it is ASCII; beyond that, base64 is shorter by far.
  if (escapes * 4 <= bytes.length) return { encoding: 'quoted-printable', body: quotedPrintable(bytes) }
  return { encoding: 'base64', body: base64Lines(Buffer.from(lines.replaceAll('\n', '\r\n'))) }
}

// "=_" opens our boundaries and can stand in no quoted-printable or base64; a mailbox file gives "From " a ">".
const looksLikeStructure = (lines: string) =>
  lines.includes('=_') || lines.startsWith('From ') || lines.includes('\nFrom ')

function survey(bytes: Buffer): { escapes: number; plain: boolean } {
  let escapes = 0
  let column = 0
  let plain = true
  let last = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number
    if (byte === lf) {
      // Servers on the way may cut white space at the end of a line.
      if (last === space || last === tab) plain = false
      column = 0
    } else {
      if (++column > longestLine) plain = false
      if (byte === equals) escapes++
      else if (byte > 126 || (byte < space && byte !== tab)) {
        escapes++
        plain = false
      }
    }
    last = byte
  }
  return { escapes, plain: plain && last !== space && last !== tab }
}

// 1: stands as itself. More: how many columns the character that starts here takes in escapes, so that it is not
// split over two lines.
const widths = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte > space && byte < 127 && byte !== equals) return 1
  if (byte < 0xc0) return 3
  if (byte < 0xe0) return 6
  return byte < 0xf0 ? 9 : 12
})

/** Takes LF as line end. */
export function quotedPrintable(bytes: Buffer): Buffer {
  const length = bytes.length
  // No line broken softly is shorter than 64 octets.
  const out = Buffer.allocUnsafe(length * 3 + Math.ceil((length * 3) / 64) * 3 + 3)
  let at = 0
  let column = 0
  for (let i = 0; i < length; i++) {
    const byte = bytes[i] as number
    if (byte === lf) {
      out[at++] = cr
      out[at++] = lf
      column = 0
      continue
    }
    const width = isSpecial(byte) ? widthInContext(bytes, i, column) : (widths[byte] as number)
    if (column + width >= longestLine) {
      out[at++] = equals
      out[at++] = cr
      out[at++] = lf
      column = 0
    }
    if (width === 1) {
      out[at++] = byte
      column++
    } else {
      out[at++] = equals
      out[at++] = hex[byte >> 4] as number
      out[at++] = hex[byte & 15] as number
      column += 3
    }
  }
  return out.subarray(0, at)
}

const isSpecial = (byte: number) => byte === space || byte === tab || byte === capitalF

// At once, or after the soft break that is due.
const startsLine = (column: number) => column === 0 || column + 1 >= longestLine

// White space at the end of a line is lost on the way, and a mailbox file changes "From " at its start.
function widthInContext(bytes: Buffer, i: number, column: number): number {
  if (bytes[i] === capitalF) return startsLine(column) && bytes[i + 4] === space ? 3 : 1
  return i + 1 < bytes.length && bytes[i + 1] !== lf ? 1 : 3
}

export function base64Lines(content: Buffer): Buffer {
  const flat = content.toString('base64')
  const lines: string[] = []
  for (let at = 0; at < flat.length; at += longestLine) lines.push(flat.slice(at, at + longestLine))
  return Buffer.from(lines.join('\r\n'), 'latin1')
}

export const endsLine = (body: Buffer) => body.length >= 2 && body.subarray(-2).equals(crlf)
