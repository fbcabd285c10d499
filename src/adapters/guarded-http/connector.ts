import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { isAllowedAddress } from '../../kernel/allowed-address.ts'
import { GuardedFault } from './fault.ts'

export type Resolve = (host: string) => Promise<{ address: string; family: 4 | 6 }[]>

export type Guard = { allowPrivate: boolean; resolve: Resolve }

const connectTimeoutMs = 10_000
const probeAfterMs = 60_000

const blocked = (host: string) => new GuardedFault('blocked', `${host} is not a public address`)

const plainHost = (hostname: string) => hostname.replace(/^\[|\]$/g, '')

/**
 * Names are resolved once and the connection goes to what was checked, so a second answer gains nothing. The socket is
 * destroyed with the reason when it comes to nothing.
 */
export function connectGuarded(guard: Guard, url: URL, onReady: () => void): Socket {
  const host = plainHost(url.hostname)
  // Literal addresses never come to the lookup.
  if (isIP(host) !== 0 && !isAllowedAddress(host, guard.allowPrivate)) throw blocked(host)
  const isTls = url.protocol === 'https:'
  const options = {
    host,
    port: Number(url.port) || (isTls ? 443 : 80),
    lookup: checkedLookup(guard),
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: probeAfterMs,
  }
  const servername = isIP(host) === 0 ? { servername: host.replace(/\.$/, '') } : {}
  const socket = isTls
    ? connectTls({ ...options, ...servername, ALPNProtocols: ['http/1.1'] })
    : connect(options)
  const late = () =>
    socket.destroy(new GuardedFault('timeout', `${url.host} did not take the connection in time`))
  const timer = setTimeout(late, connectTimeoutMs)
  socket.once('close', () => clearTimeout(timer))
  socket.once('connect', () => {
    if (!isAllowedAddress(socket.remoteAddress ?? '', guard.allowPrivate)) socket.destroy(blocked(host))
  })
  socket.once(isTls ? 'secureConnect' : 'connect', () => {
    clearTimeout(timer)
    if (!socket.destroyed) onReady()
  })
  return socket
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
  const host = plainHost(hostname)
  if (isIP(host) === 0) await resolveChecked(host, guard)
  else if (!isAllowedAddress(host, guard.allowPrivate)) throw blocked(host)
}

async function resolveChecked(host: string, { allowPrivate, resolve }: Guard) {
  const answers = await resolve(host)
  // One bad answer condemns the name: which of them gets connected to is not for us to guess.
  if (!answers.every(({ address }) => isAllowedAddress(address, allowPrivate))) throw blocked(host)
  return answers
}
