// The head of a request, and its body behind it.
type Headers = Record<string, string>

export type Written = {
  method?: string
  headers?: Headers
  /** Those that are the same for many requests, in the same object: they are looked at once. */
  usual?: Headers
  body?: string | Buffer
}

// The client writes these itself; a second opinion on them is how requests are smuggled.
const reserved =
  /^(host|connection|content-length|transfer-encoding|keep-alive|expect|upgrade|te|trailer|proxy-.*)$/
const token = /^[!#$%&'*+.^_`|~0-9a-z-]+$/
const unfit = /[^\t\x20-\x7e\x80-\xff]/

/** What every request to an address begins with, after its method. */
export const addressLines = ({ pathname, search, host }: URL) =>
  `${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`

export type Writer = (address: string, written: Written) => string | Buffer

export function requestWriter(userAgent: string | undefined): Writer {
  // Nothing is ever decompressed here: a bomb stays as small as it travels.
  const own: Headers = { accept: '*/*', 'accept-encoding': 'identity' }
  if (userAgent !== undefined) own['user-agent'] = userAgent
  const known = new WeakMap<Headers, string>()

  function usualLines(usual: Headers): string {
    const lines = known.get(usual) ?? linesOf({ ...own, ...fit(usual) })
    known.set(usual, lines)
    return lines
  }

  /** As text where every character is one byte, which is the quickest to send. */
  return (address, { method = 'GET', headers, usual, body = '' }) => {
    const bytes = Buffer.byteLength(body)
    const lines = usual ? usualLines(usual) + linesOf(fit(headers)) : linesOf({ ...own, ...fit(headers) })
    const length = bytes > 0 || method !== 'GET' ? `content-length: ${bytes}\r\n` : ''
    const head = `${method} ${address}${lines}${length}\r\n`
    if (typeof body === 'string' && body.length === bytes) return head + body
    return Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body as string)])
  }
}

function fit(given: Headers = {}): Headers {
  const headers: Headers = {}
  for (const name of Object.keys(given)) {
    const lower = name.toLowerCase()
    if (!reserved.test(lower)) headers[lower] = given[name] as string
  }
  return headers
}

function linesOf(headers: Headers): string {
  let lines = ''
  for (const name of Object.keys(headers)) {
    const value = headers[name] as string
    // Put together wrongly by us: customers' headers are checked when they are given.
    if (!token.test(name) || unfit.test(value)) throw new TypeError(`the header ${name} cannot be sent`)
    lines += `${name}: ${value}\r\n`
  }
  return lines
}
