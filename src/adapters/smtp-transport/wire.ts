const CR = 13
const LF = 10
const DOT = 46

/** The message as DATA wants it: lines that begin with a dot get another one (RFC 5321 4.5.2), then the final dot. */
export function wireOf(raw: Buffer): Buffer {
  const dots = leadingDots(raw)
  const ending = raw.length === 0 || raw[raw.length - 1] === LF ? '.\r\n' : '\r\n.\r\n'
  const wire = Buffer.allocUnsafe(raw.length + dots.length + ending.length)
  let [from, to] = [0, 0]
  for (const dot of dots) {
    to += raw.copy(wire, to, from, dot)
    wire[to++] = DOT
    from = dot
  }
  to += raw.copy(wire, to, from)
  wire.write(ending, to, 'latin1')
  return wire
}

/** Throws on a bare CR or LF: what a server takes for a line end there is how mail is smuggled. */
function leadingDots(raw: Buffer): number[] {
  const dots: number[] = []
  for (let line = 0; ; ) {
    if (raw[line] === DOT) dots.push(line)
    // Searching natively is several times faster than looking at each byte from here.
    const [cr, lf] = [raw.indexOf(CR, line), raw.indexOf(LF, line)]
    if (cr < 0 && lf < 0) return dots
    if (cr < 0 || lf !== cr + 1) throw bareLineEnd(line)
    line = lf + 1
  }
}

const bareLineEnd = (at: number) => new Error(`the message has a bare CR or LF after byte ${at}`)

const plainAddress = /^[\x21-\x3b\x3d\x3f-\x7e]+$/

/** The address itself; throws on what could end the command or the path early. */
export function pathOf(address: string): string {
  if (!plainAddress.test(address))
    throw new Error('an envelope address is empty or has characters that SMTP forbids')
  return address
}
