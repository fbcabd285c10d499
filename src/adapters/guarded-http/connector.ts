import type { LookupFunction } from 'node:net'
import { isIP } from 'node:net'
import { buildConnector } from 'undici'
import { isAllowedAddress } from '../../kernel/allowed-address.ts'
import { GuardedFault } from './fault.ts'

export type Resolve = (host: string) => Promise<{ address: string; family: 4 | 6 }[]>

export type Guard = { allowPrivate: boolean; resolve: Resolve }

const connectTimeoutMs = 10_000

const blocked = (host: string) => new GuardedFault('blocked', `${host} is not a public address`)

/** Names are resolved once and the connection goes to what was checked, so a second answer gains nothing. */
export function guardedConnector(guard: Guard): buildConnector.connector {
  const base = buildConnector({ timeout: connectTimeoutMs, lookup: checkedLookup(guard) })
  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, '')
    // Literal addresses never come to the lookup.
    if (isIP(host) !== 0 && !isAllowedAddress(host, guard.allowPrivate)) return callback(blocked(host), null)
    base({ ...options, hostname: host }, (...[error, socket]) => {
      if (error !== null) return callback(error, null)
      if (isAllowedAddress(socket.remoteAddress ?? '', guard.allowPrivate)) return callback(null, socket)
      socket.destroy()
      callback(blocked(host), null)
    })
  }
}

function checkedLookup(guard: Guard): LookupFunction {
  return (host, options, callback) => {
    const refuse = (error: Error) => callback(error, '', 0)
    resolveChecked(host, guard).then((answers) => {
      const first = answers.find(({ family }) => !options.family || family === options.family)
      if (first === undefined) return refuse(new GuardedFault('unreachable', `${host} has no usable address`))
      if (options.all) callback(null, answers)
      else callback(null, first.address, first.family)
    }, refuse)
  }
}

/** Throws when the host is, or its name leads to, an address that is not allowed; or when the name leads nowhere. */
export async function checkHost(hostname: string, guard: Guard): Promise<void> {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) === 0) await resolveChecked(host, guard)
  else if (!isAllowedAddress(host, guard.allowPrivate)) throw blocked(host)
}

async function resolveChecked(host: string, { allowPrivate, resolve }: Guard) {
  const answers = await resolve(host)
  // One bad answer condemns the name: which of them gets connected to is not for us to guess.
  if (!answers.every(({ address }) => isAllowedAddress(address, allowPrivate))) throw blocked(host)
  return answers
}
