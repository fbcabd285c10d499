// Quoted-printable, RFC 2045 §6.7. Written with the searches and replacements of strings: a loop over the bytes takes
// five times as long.

const longestLine = 76
const softBreak = '=\r\n'
// A line that goes on needs a place for its equals sign.
const room = longestLine - softBreak.indexOf('\r')

export const withLf = (text: string) => (text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text)

/** Of a text with LF as line end, which stays. White space at its end is escaped, whatever comes behind it. */
export function escaped(lines: string, isAscii = isAsciiText(lines)): string {
  return safeEnds(isAscii ? lines.replaceAll('=', '=3D') : lines.replace(/[^\n\t -~]|=/gu, escapeOf))
}

export const isAsciiText = (lines: string) => !/[^\n\t -~]/.test(lines)

const escapeOf = (character: string) =>
  Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '=$&')

/** White space at the end of a line is lost on the way, and a mailbox file changes "From " at its start. */
function safeEnds(text: string): string {
  const hasEnd = text.includes(' \n') || text.includes('\t\n') || text.endsWith(' ') || text.endsWith('\t')
  const safe = hasEnd ? text.replace(/[ \t](?=\n|$)/g, escapeOf) : text
  return safe.includes('From ') ? safe.replace(/^From /gm, '=46rom ') : safe
}

/** Breaks the lines of an escaped text, the first of which goes on at `column`, and takes LF as line end. */
export function quotedLines(text: string, column = 0): string {
  let out = ''
  let left = room - column
  for (let at = 0; ; left = room) {
    const found = text.indexOf('\n', at)
    const end = found < 0 ? text.length : found
    for (; end - at > left; left = room) {
      const cut = placeToBreak(text, at + left)
      out += text.slice(at, cut) + softBreak
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

/** A piece of a body, encoded once to stand in many: how long its first and last line are, and whether they are one. */
export type Piece = { text: string; first: number; last: number; isOneLine: boolean }

export function pieceOf(text: string): Piece {
  const quoted = quotedLines(escaped(withLf(text)))
  const end = quoted.indexOf('\r\n')
  const isOneLine = end < 0
  const last = quoted.length - (quoted.lastIndexOf('\n') + 1)
  return { text: quoted, first: isOneLine ? quoted.length : end, last, isOneLine }
}

export type Body = {
  put(piece: Piece): void
  write(text: string): void
  quoted(): string
}

/** A body that is put together from pieces and from what differs. */
export function openBody(): Body {
  let [body, column] = ['', 0]
  return {
    put({ text, first, last, isOneLine }) {
      if (column > 0 && column + first > room) {
        body += softBreak
        column = 0
      }
      body += text
      column = isOneLine ? column + last : last
    },
    write(text) {
      const quoted = quotedLines(escaped(withLf(text)), column)
      const lineEnd = quoted.lastIndexOf('\n')
      body += quoted
      column = lineEnd < 0 ? column + quoted.length : quoted.length - lineEnd - 1
    },
    quoted: () => body,
  }
}
