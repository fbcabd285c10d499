// The arguments of MAIL and RCPT (RFC 5321 §4.1.2), strict in what an address may be and lenient about the rest:
// a space after the colon, missing brackets and a source route are what real clients send.

export type Path = { address: string; params: string[] }

const atom = "[\\w!#$%&'*+/=?^`{|}~-]+"
const quoted = '"(?:[ !#-\\[\\]-~]|\\\\[ -~])*"'
const label = '(?!-)[\\w-]{1,63}(?<!-)'
const literal = '\\[[\\w.:-]{3,64}\\]'
const mailbox = `(?:${atom}(?:\\.${atom})*|${quoted})@(?:${label}(?:\\.${label})*|${literal})`
const route = '(?:@[\\w.-]+(?:,@[\\w.-]+)*:)?'
const path = new RegExp(`^(?:<>|<${route}(${mailbox})>|(${mailbox}))(?= |$)`)

const longestLocalPart = 64
const longestAddress = 254

export function readPath(argument: string, keyword: 'FROM:' | 'TO:'): Path | 'malformed' | 'not ascii' {
  if (argument.slice(0, keyword.length).toUpperCase() !== keyword) return 'malformed'
  const text = argument.slice(keyword.length).trimStart()
  if (/[^ -~]/.test(text)) return 'not ascii'
  const found = path.exec(text)
  if (!found) return 'malformed'
  const address = found[1] ?? found[2] ?? ''
  if (address.length > longestAddress || address.lastIndexOf('@') > longestLocalPart) return 'malformed'
  const params = text.slice(found[0].length).trim()
  return { address, params: params === '' ? [] : params.split(/ +/) }
}

export type ParamFault = 'unknown' | 'malformed' | 'too large'

/** RFC 1870, RFC 6152 and RFC 4954 §5; SMTPUTF8 and DSN are not offered, so their parameters are unknown. */
export function faultOfMailParams(params: string[], maxBytes: number): ParamFault | undefined {
  const names = params.map((param) => param.split('=', 1)[0]?.toUpperCase() ?? '')
  if (new Set(names).size !== names.length) return 'malformed'
  for (const [at, name] of names.entries()) {
    const fault = faultOfParam(name, params[at]?.slice(name.length + 1) ?? '', maxBytes)
    if (fault) return fault
  }
  return undefined
}

function faultOfParam(name: string, value: string, maxBytes: number): ParamFault | undefined {
  if (name === 'AUTH') return undefined
  if (name === 'BODY') return /^(?:7BIT|8BITMIME)$/i.test(value) ? undefined : 'malformed'
  if (name !== 'SIZE') return 'unknown'
  if (!/^\d{1,20}$/.test(value)) return 'malformed'
  return Number(value) > maxBytes ? 'too large' : undefined
}
