// The relaxed canonical forms of RFC 6376 §3.4.2 and §3.4.4.

export type HeaderField = { name: string; text: string }

const tab = 9
const lf = 10
const cr = 13
const space = 32

/** The header fields in their order and the body of a message with CRLF line ends. */
export function splitMessage(raw: Buffer): { fields: HeaderField[]; body: Buffer } {
  const end = raw.indexOf('\r\n\r\n')
  const head = raw.toString('latin1', 0, end < 0 ? raw.length : end)
  const fields = head
    .replace(/\r\n$/, '')
    .split(/\r\n(?![ \t])/)
    .map((text) => ({ name: text.slice(0, text.indexOf(':')).trim().toLowerCase(), text }))
  return { fields, body: end < 0 ? Buffer.alloc(0) : raw.subarray(end + 4) }
}

/** Without the CRLF at its end. */
export function relaxedHeader({ name, text }: HeaderField): string {
  const value = text.slice(text.indexOf(':') + 1)
  const line = value.includes('\r') ? value.replace(/\r\n(?=[ \t])/g, '') : value
  const single = line.includes('\t') || line.includes('  ') ? line.replace(/[ \t]+/g, ' ') : line
  const [start, end] = [single.startsWith(' ') ? 1 : 0, single.length - (single.endsWith(' ') ? 1 : 0)]
  return `${name}:${single.slice(start, Math.max(start, end))}`
}

/** As most bodies are that we write ourselves; looking costs a tenth of copying. */
function isRelaxed(body: Buffer): boolean {
  const text = body.toString('latin1')
  const isEnded = text.length > 2 && text.endsWith('\r\n') && !text.endsWith('\r\n\r\n')
  return isEnded && !shrinking.some((gap) => text.includes(gap))
}

const shrinking = ['\t', '  ', ' \r\n']

/** White space shrinks to one space and goes at line ends, blank lines go at the end; an empty body stays empty. */
export function relaxedBody(body: Buffer): Buffer {
  if (isRelaxed(body)) return body
  const out = Buffer.allocUnsafe(body.length + 2)
  let at = 0
  let lineEnds = 0
  let gap = false
  for (let i = 0; i < body.length; i++) {
    const byte = body[i] as number
    if (byte === space || byte === tab) {
      gap = true
    } else if (byte === cr && body[i + 1] === lf) {
      gap = false
      lineEnds++
      i++
    } else {
      for (; lineEnds > 0; lineEnds--) {
        out[at++] = cr
        out[at++] = lf
      }
      if (gap) out[at++] = space
      gap = false
      out[at++] = byte
    }
  }
  if (at > 0) {
    out[at++] = cr
    out[at++] = lf
  }
  return out.subarray(0, at)
}
