// The head of a request, and its body behind it.
type Written = { method?: string; headers?: Record<string, string>; body?: string | Buffer }

// The client writes these itself; a second opinion on them is how requests are smuggled.
const reserved =
  /^(host|connection|content-length|transfer-encoding|keep-alive|expect|upgrade|te|trailer|proxy-.*)$/
const token = /^[!#$%&'*+.^_`|~0-9a-z-]+$/
const unfit = /[^\t\x20-\x7e\x80-\xff]/

/** As text where every character is one byte, which is the quickest to send. */
export function writeRequest(
  url: URL,
  { method = 'GET', headers, body = '' }: Written,
  userAgent: string | undefined,
): string | Buffer {
  const bytes = Buffer.byteLength(body)
  let head = `${method} ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\nconnection: keep-alive\r\n`
  for (const [name, value] of Object.entries(headersOf(headers, userAgent))) {
    // Put together wrongly by us: customers' headers are checked when they are given.
    if (!token.test(name) || unfit.test(value)) throw new TypeError(`the header ${name} cannot be sent`)
    head += `${name}: ${value}\r\n`
  }
  if (bytes > 0 || method !== 'GET') head += `content-length: ${bytes}\r\n`
  if (typeof body === 'string' && body.length === bytes) return `${head}\r\n${body}`
  return Buffer.concat([Buffer.from(`${head}\r\n`, 'latin1'), Buffer.from(body as string)])
}

function headersOf(
  given: Record<string, string> = {},
  userAgent: string | undefined,
): Record<string, string> {
  // Nothing is ever decompressed here: a bomb stays as small as it travels.
  const headers: Record<string, string> = { accept: '*/*', 'accept-encoding': 'identity' }
  if (userAgent !== undefined) headers['user-agent'] = userAgent
  for (const name of Object.keys(given)) {
    const lower = name.toLowerCase()
    if (!reserved.test(lower)) headers[lower] = given[name] as string
  }
  return headers
}
