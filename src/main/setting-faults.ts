// What only shows when a setting is used, told like any other wrong setting: the variable, its fault, what is accepted.
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { ConfigFault } from './config.ts'

/** From a failure to listen; `ports` by their variables. */
export const listenFault =
  (host: string, ports: Record<string, number | undefined>, hostVariable = 'POSTHORN_HOST') =>
  (error: NodeJS.ErrnoException & { port?: number }): never => {
    const [variable = '', port] = Object.entries(ports).find(([, one]) => one === error.port) ?? []
    if (error.code === 'EADDRINUSE')
      throw new ConfigFault(`${variable} must be a free port: ${port} of ${host} is taken by another program`)
    if (error.code === 'EACCES')
      throw new ConfigFault(`${variable} must be a port that this user may listen on, not ${port}`)
    if (['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL'].includes(error.code ?? ''))
      throw new ConfigFault(
        `${hostVariable} must be an address of this machine, or 0.0.0.0 for all, not ${JSON.stringify(host)}`,
      )
    throw error
  }

// Nobody there, a name that nobody knows, a wrong password, user or database, no connection left.
const unusable =
  /^(?:E[A-Z_]+|28000|28P01|3D000|53300|08P01|CERT_.*|DEPTH_ZERO_.*|SELF_SIGNED_.*|UNABLE_TO_.*)$/
const unusableWords = /timeout|connection terminated|support SSL|password must be a/i

/** From a failure to connect to the database that DATABASE_URL names; the message of the driver holds no password. */
export function databaseFault(error: unknown): never {
  const found = error instanceof AggregateError ? error.errors[0] : error
  const { code = '', message = '' } = found as NodeJS.ErrnoException
  if (!unusable.test(code) && !unusableWords.test(message)) throw error
  const advice = adviceOn(found)
  const all = advice === undefined ? message : `${message}; ${advice}`
  throw new ConfigFault(`DATABASE_URL must lead to a PostgreSQL server that takes us in: ${all}`)
}

const advices: [RegExp, string][] = [
  [
    /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_.*)/,
    'its certificate is not from an authority that is known here: name the file of that one behind the address ' +
      '(&sslrootcert=/path/ca.pem) or in NODE_EXTRA_CA_CERTS; sslmode=no-verify goes without a check',
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID/,
    'its certificate is for another name: use that one, or sslmode=no-verify, which goes without a check',
  ],
  [/^\S* The server does not support SSL/, 'use sslmode=disable where the way to it is safe'],
  [/^\S* SASL: .*password must be a/, 'it asks for a password, which belongs behind the user and a colon'],
  [
    /unsupported startup parameter/,
    'let the pooler ignore what it does not know: ignore_startup_parameters = ' +
      'options, extra_float_digits, statement_timeout, idle_in_transaction_session_timeout',
  ],
]

/** What to do about a server that does not take us in, where it does not say so itself. */
export function adviceOn(error: unknown): string | undefined {
  const { code = '', message = '' } = error as NodeJS.ErrnoException
  return advices.find(([says]) => says.test(`${code} ${message}`))?.[1]
}

/** Resolvers are asked by address: names among them are looked up once, by the system. */
export async function resolverAddresses(given: string[] | undefined): Promise<string[] | undefined> {
  return given && Promise.all(given.map(addressOf))
}

async function addressOf(resolver: string): Promise<string> {
  const [, name = '', port] = /^([^:[\]]+)(?::(\d+))?$/.exec(resolver) ?? []
  if (name === '' || isIP(name) !== 0) return resolver
  const { address, family } = await lookup(name).catch(() => {
    throw new ConfigFault(`POSTHORN_DNS must name resolvers that can be found, not ${JSON.stringify(name)}`)
  })
  const host = family === 6 ? `[${address}]` : address
  return port === undefined ? host : `${host}:${port}`
}
