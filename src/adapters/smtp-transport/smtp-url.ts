import { isIP } from 'node:net'
import { isLoopback } from '../../kernel/allowed-address.ts'

export type TlsMode = 'implicit' | 'required' | 'opportunistic' | 'off'

/** A password, or an access token of OAuth2. */
export type Credentials = { user: string; password: string } | { user: string; accessToken: string }

export type ParsedSmtpUrl = {
  host: string
  port: number
  tls: TlsMode
  credentials: Credentials | null
  connections: number
  /** How many messages one connection carries before it is replaced. */
  messages: number
  /** What to call ourselves in EHLO; null: the name or the address of this machine. */
  name: string | null
}

/** Throws with a one-line reason, which never repeats the address: it may hold a password. */
export function parseSmtpUrl(url: string): ParsedSmtpUrl {
  const parts = URL.canParse(url) ? new URL(url) : undefined
  if (parts === undefined || !['smtp:', 'smtps:'].includes(parts.protocol))
    throw new Error('the SMTP address must look like smtp://host:port or smtps://user:password@host:port')
  if (!['', '/'].includes(parts.pathname) || parts.hash !== '')
    throw new Error(
      'the SMTP address takes nothing behind host and port but options such as "?connections=10"',
    )
  const host = hostOf(parts)
  const credentials = credentialsOf(parts)
  const options = optionsOf(parts.searchParams)
  const tls = tlsModeOf(parts.protocol, options.tls, credentials === null ? null : host)
  return {
    host,
    port: portOf(parts, tls, credentials !== null),
    tls,
    credentials,
    connections: wholeNumber('connections', options.connections ?? '10', 200),
    messages: wholeNumber('messages', options.messages ?? '100', 1_000_000),
    name: options.name === undefined ? null : helloName(options.name),
  }
}

function hostOf({ hostname }: URL): string {
  const host = hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  if (isIP(host) === 0 && !/^[a-z0-9_]([a-z0-9._-]*[a-z0-9])?\.?$/.test(host))
    throw new Error('the SMTP address has no valid host name (write another alphabet as xn--…)')
  return host
}

function portOf({ port }: URL, tls: TlsMode, hasCredentials: boolean): number {
  if (port === '0') throw new Error('the SMTP address has port 0')
  if (port !== '') return Number(port)
  if (tls === 'implicit') return 465
  return hasCredentials ? 587 : 25
}

function credentialsOf({ username, password }: URL): ParsedSmtpUrl['credentials'] {
  if (username === '' && password === '') return null
  if (username === '' || password === '')
    throw new Error('the SMTP address needs both a user and a password, or neither')
  return { user: decoded('user', username), password: decoded('password', password) }
}

function decoded(what: string, text: string): string {
  let plain: string
  try {
    plain = decodeURIComponent(text)
  } catch {
    throw new Error(`the ${what} in the SMTP address is not percent-encoded (write "%" as "%25")`)
  }
  // RFC 4616: NUL separates the parts of AUTH PLAIN.
  if (/\p{Cc}/u.test(plain)) throw new Error(`the ${what} in the SMTP address has a control character`)
  return plain
}

const known = ['connections', 'messages', 'name', 'tls'] as const

function optionsOf(given: URLSearchParams): { [option in (typeof known)[number]]?: string } {
  for (const option of given.keys()) {
    if (!known.some((each) => each === option))
      throw new Error(`the SMTP address has an unknown option "${option}" (there are: ${known.join(', ')})`)
    if (given.getAll(option).length > 1) throw new Error(`the SMTP address has "${option}" twice`)
  }
  return Object.fromEntries(given)
}

function wholeNumber(option: string, text: string, most: number): number {
  const number = /^\d{1,7}$/.test(text) ? Number(text) : 0
  if (number < 1 || number > most)
    throw new Error(`"${option}" in the SMTP address must be a whole number from 1 to ${most}`)
  return number
}

function helloName(name: string): string {
  if (!/^([a-z0-9]([a-z0-9.-]{0,253}[a-z0-9])?|\[[a-z0-9.:]{3,60}\])$/i.test(name))
    throw new Error('"name" in the SMTP address must be a host name or an address in brackets')
  return name
}

/** `toldTo`: the host that a login goes to. */
export function tlsModeOf(protocol: string, wish: string | undefined, toldTo: string | null): TlsMode {
  if (protocol === 'smtps:') {
    if (wish === undefined || wish === 'required') return 'implicit'
    throw new Error(`"tls=${wish}" contradicts smtps:// (use smtp:// for it)`)
  }
  const hasSecretToKeep = toldTo !== null && !isLoopback(toldTo)
  if (wish === undefined) return hasSecretToKeep ? 'required' : 'opportunistic'
  if (wish === 'required' || wish === 'opportunistic' || wish === 'off') return wish
  throw new Error('"tls" in the SMTP address must be required, opportunistic or off')
}
