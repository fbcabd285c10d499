// The servers of a mailbox as callers give them.
import { isIP } from 'node:net'
import { type Static, Type } from 'typebox'
import { isAllowedAddress } from '../../../kernel/allowed-address.ts'
import { invalidParameter, missingParameter, secretUnopened } from '../../../kernel/refusals.ts'
import { closed } from '../../../kernel/schema.ts'
import { given, optional } from '../../../kernel/v3/lenient.ts'
import type { Secret, ServerSettings } from './credentials.ts'

const Text = Type.Optional(Type.String({ maxLength: 255 }))

export const ServerGiven = closed({
  host: Text,
  port: optional(Type.Integer()),
  secure: optional(Type.Boolean({ description: 'TLS from the start; otherwise STARTTLS' })),
  user: Text,
  password: Type.Optional(
    Type.String({ maxLength: 1_000, description: 'Or an app password; never given back' }),
  ),
  accessToken: Type.Optional(
    Type.String({ maxLength: 8_000, description: 'Of OAuth2 (XOAUTH2), instead of a password' }),
  ),
})

export type ServerGiven = Static<typeof ServerGiven>

type Kind = 'smtp' | 'imap'

const securePorts: Record<Kind, number> = { smtp: 465, imap: 993 }
const plainPorts: Record<Kind, number> = { smtp: 587, imap: 143 }

export type ReadServer = { settings: ServerSettings; secret: Secret }

/** What is not given is as it was; a new mailbox logs in by its address. */
export function readServer(
  kind: Kind,
  one: ServerGiven | null | undefined,
  known: Partial<ServerSettings> & { user: string; secret?: Secret; isUnopened?: boolean },
): ReadServer {
  const host = given(one?.host)?.trim().toLowerCase() ?? known.host
  if (host === undefined)
    throw missingParameter({ message: `host is missing in ${kind}`, param: `${kind}.host` })
  if (!isHost(host))
    throw invalidParameter({ message: `host is not valid in ${kind}`, param: `${kind}.host` })
  const secure = one?.secure ?? known.secure ?? !Object.values(plainPorts).includes(one?.port ?? 0)
  const port = one?.port ?? known.port ?? (secure ? securePorts : plainPorts)[kind]
  if (port < 1 || port > 65_535)
    throw invalidParameter({ message: `port is not valid in ${kind}`, param: `${kind}.port` })
  const user = given(one?.user) ?? known.user
  // A stored password goes to the host that it was given for, and to no other that somebody names later.
  const secret = secretOf(one) ?? (host === known.host ? known.secret : undefined)
  if (!secret && known.isUnopened && host === known.host) throw secretUnopened({ message: giveAgain })
  if (!secret) {
    const again = known.host === undefined || known.host === host ? '' : ': a new host needs it again'
    throw missingParameter({ message: `password is missing in ${kind}${again}`, param: `${kind}.password` })
  }
  if (/\p{Cc}/u.test(user + Object.values(secret).join('')) || !user.isWellFormed())
    throw invalidParameter({ message: `user or password is not valid in ${kind}`, param: kind })
  return { settings: { host, port, secure, user }, secret }
}

const giveAgain =
  'The passwords of this mailbox were sealed with another secret key than this process has: whoever runs the service ' +
  'has to put POSTHORN_SECRET_KEY, or secret-key in the data folder, back; or give the passwords of both servers again'

function secretOf(one: ServerGiven | null | undefined): Secret | undefined {
  const [accessToken, password] = [given(one?.accessToken), given(one?.password)]
  if (accessToken !== undefined) return { accessToken }
  return password === undefined ? undefined : { password }
}

/** One that no connection is made to would never work. What a name leads to may change. */
export function refuseAddress(kind: Kind, host: string, { allowPrivate }: { allowPrivate: boolean }): void {
  if (isIP(host) === 0 || isAllowedAddress(host, allowPrivate)) return
  throw invalidParameter({ message: `${host} is not a public address`, param: `${kind}.host` })
}

const isHost = (host: string) =>
  /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(host) || /^[0-9a-f:.]{2,45}$/.test(host)
