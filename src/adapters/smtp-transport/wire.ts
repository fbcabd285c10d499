// Texts of one octet a character: they are searched and joined faster than buffers, and sockets take them as they are.

/** The message as DATA wants it: lines that begin with a dot get another one (RFC 5321 4.5.2), then the final dot. */
export function wireOf(raw: Buffer): string {
  const text = raw.toString('latin1')
  refuseBareLineEnds(text)
  const inner = text.includes('\n.') ? text.replaceAll('\n.', '\n..') : text
  const stuffed = inner.startsWith('.') ? `.${inner}` : inner
  return stuffed === '' || stuffed.endsWith('\n') ? `${stuffed}.\r\n` : `${stuffed}\r\n.\r\n`
}

/** What a server takes for a line end there is how mail is smuggled. */
function refuseBareLineEnds(text: string): void {
  for (let line = 0; ; ) {
    const lf = text.indexOf('\n', line)
    const cr = text.indexOf('\r', line)
    if (cr < 0 && lf < 0) return
    if (cr < 0 || cr !== lf - 1) throw new Error(`the message has a bare CR or LF after byte ${line}`)
    line = lf + 1
  }
}

const plainAddress = /^[\x21-\x3b\x3d\x3f-\x7e]+$/

/** The address itself; throws on what could end the command or the path early. */
export function pathOf(address: string): string {
  if (!plainAddress.test(address))
    throw new Error('an envelope address is empty or has characters that SMTP forbids')
  return address
}
