// Content transfer encodings, RFC 2045 §6.
import { escaped, isAsciiText, quotedLines, withLf } from './quoted-printable.ts'

/** `body` is ASCII. */
export type Encoded = { encoding: '7bit' | 'quoted-printable' | 'base64'; body: string }

const longestLine = 76

/** Line ends become CRLF. */
export function encodeText(text: string): Encoded {
  const lines = withLf(text)
  const isAscii = isAsciiText(lines)
  const safe = escaped(lines, isAscii)
  const body = quotedLines(safe)
  const withLineEnds = () => lines.replaceAll('\n', '\r\n')
  if (isAscii && isPlain(lines, body)) return { encoding: '7bit', body: withLineEnds() }
  // Readable as it stands while most of it is ASCII; beyond that, base64 is shorter by far. An escape adds two octets.
  const length = Buffer.byteLength(lines)
  if ((safe.length - length) * 2 <= length) return { encoding: 'quoted-printable', body }
  return { encoding: 'base64', body: base64Lines(Buffer.from(withLineEnds())) }
}

// "=_" opens our boundaries and can stand in no quoted-printable or base64. Equals signs need no escape here.
const isPlain = (lines: string, quoted: string) =>
  !lines.includes('=_') && !quoted.includes('=\r\n') && !/=(?!3D)/.test(quoted)

export function base64Lines(content: Buffer): string {
  const flat = content.toString('base64')
  const lines: string[] = []
  for (let at = 0; at < flat.length; at += longestLine) lines.push(flat.slice(at, at + longestLine))
  return lines.join('\r\n')
}
