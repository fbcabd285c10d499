// What a creation or a change may say about a webhook, read into what is kept.
import { type Static, Type } from 'typebox'
import { urlOf } from '../../kernel/location.ts'
import { invalidParameter, missingParameter } from '../../kernel/refusals.ts'
import { closed } from '../../kernel/schema.ts'
import { given, oneLine, optional } from '../../kernel/v3/lenient.ts'
import { types, type WebhookType, words } from './events.ts'
import type { Secrets } from './secrets.ts'

const Text = Type.Optional(Type.String({ maxLength: 1000 }))
const Auth = closed({ type: Text, token: Type.Optional(Type.String({ maxLength: 4096 })) })
const Header = closed({ key: Text, value: Type.Optional(Type.String({ maxLength: 4096 })) })
const mostHeaders = 30

const changeable = {
  url: Type.Optional(Type.String({ maxLength: 2000, description: 'http or https; no private address' })),
  description: Text,
  events: optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 100 })),
  batched: optional(Type.Boolean({ description: 'Events are gathered for 5 minutes, at most 500 a call' })),
  auth: optional(Auth),
  headers: optional(Type.Array(Header, { maxItems: mostHeaders })),
}

export const ChangeBody = closed(changeable)
export const CreateBody = closed({
  ...changeable,
  type: Type.Optional(Type.String({ description: `${types.join(' or ')}; transactional when absent` })),
  channel: Type.Optional(Type.String({ description: 'email (when absent) or sms, which is transactional' })),
})

export type ChangeBody = Static<typeof ChangeBody>
export type CreateBody = Static<typeof CreateBody>

/** URLs may hold passwords, which have no place in the action log either. */
export const secretFields = ['url', 'auth', 'headers']

export function readType(body: Pick<CreateBody, 'type' | 'channel'>): WebhookType {
  const type = given(body.type) ?? 'transactional'
  const channel = given(body.channel) ?? 'email'
  if (channel === 'sms' && type === 'transactional') return 'sms'
  if (channel !== 'email')
    throw invalidParameter({
      message: 'channel must be email, or sms of type transactional',
      param: 'channel',
    })
  if (type === 'inbound')
    throw invalidParameter({ message: 'type inbound is not served: no mail is received', param: 'type' })
  const known = types.find((one) => one === type)
  if (known) return known
  throw invalidParameter({ message: `type must be ${types.join(' or ')}`, param: 'type' })
}

/** Undefined when none are given; an empty list asks for a webhook that is told nothing. */
export function readEvents(type: WebhookType, events: string[] | null | undefined): string[] | undefined {
  if (!events) return undefined
  const asked = [...new Set(events.map((event) => event.trim()).filter((event) => event !== ''))]
  if (asked.length === 0) throw missingParameter({ message: 'events is missing', param: 'events' })
  const known = Object.keys(words[type])
  const unknown = asked.find((event) => !known.includes(event))
  if (unknown === undefined) return asked
  const allowed = `${type} webhooks know ${known.join(', ')}`
  throw invalidParameter({
    message: `Invalid event ${JSON.stringify(oneLine(unknown))}: ${allowed}`,
    param: 'events',
  })
}

export type Address = { url: string; basic?: string }

/** A user name and password in the address become what they are sent as. Undefined when none is given. */
export function readAddress(text: string | undefined): Address | undefined {
  const asked = given(text)?.trim()
  if (asked === undefined) return undefined
  const url = /[\s\p{Cc}]/u.test(asked) ? undefined : urlOf(asked)
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw invalidParameter({ message: 'url must be an http or https address', param: 'url' })
  if (url.username === '' && url.password === '') return { url: asked }
  const basic = `${decoded(url.username)}:${decoded(url.password)}`
  url.username = ''
  url.password = ''
  return { url: url.href, basic }
}

export function requireAddress(text: string | undefined): Address {
  const address = readAddress(text)
  if (!address) throw missingParameter({ message: 'url is missing', param: 'url' })
  return address
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Stands for a secret that the caller may not see; given back, it means the one that is kept. */
export const mask = '********'

/** Taken as it stands it would go to the receiver, which then refuses every call. */
const unknownMask = (what: string, param: string) =>
  invalidParameter({
    message: `${what} is ${mask}, which stands for a secret that is not kept here: give the secret itself`,
    param,
  })

/** Undefined when none is given; an empty one takes it away. */
export function readToken(auth: ChangeBody['auth'], kept?: string): { token?: string } | undefined {
  if (!auth) return undefined
  const [type, token] = [given(auth.type)?.trim().toLowerCase(), given(auth.token)?.trim()]
  if (type === undefined && token === undefined) return {}
  if (type !== undefined && type !== 'bearer')
    throw invalidParameter({ message: 'auth.type must be bearer', param: 'auth' })
  if (token === undefined) throw missingParameter({ message: 'auth.token is missing', param: 'auth' })
  if (token === mask && kept === undefined) throw unknownMask('auth.token', 'auth')
  if (token === mask) return { token: kept }
  if (/^[\x21-\x7e]+$/.test(token)) return { token }
  throw invalidParameter({
    message: 'auth.token must be printable ASCII characters without spaces',
    param: 'auth',
  })
}

// What the service itself writes, or what would change how the request is understood.
const reserved =
  /^(host|connection|content-.*|transfer-encoding|keep-alive|expect|upgrade|te|trailer|proxy-.*|webhook-.*)$/

export function readHeaders(
  headers: ChangeBody['headers'],
  kept: Secrets['headers'] = [],
): Secrets['headers'] | undefined {
  return headers?.map((header) => {
    const [key, value] = [header.key?.trim() ?? '', header.value?.trim() ?? '']
    if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(key))
      throw invalidParameter({ message: 'key must be the name of a header in headers', param: 'headers' })
    if (reserved.test(key.toLowerCase()))
      throw invalidParameter({ message: `headers must not name ${key}`, param: 'headers' })
    if (/[^\t\x20-\x7e]/.test(value))
      throw invalidParameter({ message: `The value of ${key} must be ASCII on one line`, param: 'headers' })
    if (value !== mask) return { key, value }
    const known = kept.find((one) => one.key.toLowerCase() === key.toLowerCase())
    if (!known) throw unknownMask(`The value of ${key}`, 'headers')
    return { key, value: known.value }
  })
}
