// Content transfer encodings, RFC 2045 §6. Written with the searches and replacements of strings: a loop over the bytes
// takes five times as long.

/** `body` is ASCII. */
export type Encoded = { encoding: '7bit' | 'quoted-printable' | 'base64'; body: string }

const longestLine = 76

/** Line ends become CRLF. */
export function encodeText(text: string): Encoded {
  const lines = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text
  const isAscii = !/[^\n\t -~]/.test(lines)
  const escaped = isAscii ? lines.replaceAll('=', '=3D') : lines.replace(/[^\n\t -~]|=/gu, escapeOf)
  const body = quotedLines(safeEnds(escaped))
  const withLineEnds = () => lines.replaceAll('\n', '\r\n')
  if (isAscii && isPlain(lines, body)) return { encoding: '7bit', body: withLineEnds() }
  // Readable as it stands while most of it is ASCII; beyond that, base64 is shorter by far. An escape adds two octets.
  const length = Buffer.byteLength(lines)
  if ((escaped.length - length) * 2 <= length) return { encoding: 'quoted-printable', body }
  return { encoding: 'base64', body: base64Lines(Buffer.from(withLineEnds())) }
}

// "=_" opens our boundaries and can stand in no quoted-printable or base64. Equals signs need no escape here.
const isPlain = (lines: string, quoted: string) =>
  !lines.includes('=_') && !quoted.includes('=\r\n') && !/=(?!3D)/.test(quoted)

const escapeOf = (character: string) =>
  Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '=$&')

/** White space at the end of a line is lost on the way, and a mailbox file changes "From " at its start. */
function safeEnds(text: string): string {
  const hasEnd = text.includes(' \n') || text.includes('\t\n') || text.endsWith(' ') || text.endsWith('\t')
  const safe = hasEnd ? text.replace(/[ \t](?=\n|$)/g, escapeOf) : text
  return safe.includes('From ') ? safe.replace(/^From /gm, '=46rom ') : safe
}

/** Breaks long lines, and takes LF as line end. */
function quotedLines(text: string): string {
  let out = ''
  for (let at = 0; ; ) {
    const found = text.indexOf('\n', at)
    const end = found < 0 ? text.length : found
    while (end - at >= longestLine) {
      const cut = placeToBreak(text, at + longestLine - 1)
      out += `${text.slice(at, cut)}=\r\n`
      at = cut
    }
    out += text.slice(at, end)
    if (found < 0) return out
    out += '\r\n'
    at = end + 1
  }
}

const equals = 61

/** At the wanted place, or a little before it: no escape and no character is split over two lines. */
function placeToBreak(text: string, wanted: number): number {
  let at = text.startsWith('From ', wanted) ? wanted - 1 : wanted
  if (text.charCodeAt(at - 1) === equals) at -= 1
  else if (text.charCodeAt(at - 2) === equals) at -= 2
  while (text.charCodeAt(at) === equals && '89AB'.includes(text.charAt(at + 1))) at -= 3
  return at
}

export function base64Lines(content: Buffer): string {
  const flat = content.toString('base64')
  const lines: string[] = []
  for (let at = 0; at < flat.length; at += longestLine) lines.push(flat.slice(at, at + longestLine))
  return lines.join('\r\n')
}
