import type { LookupAddress } from 'node:dns'
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { isLoopback } from '../../kernel/allowed-address.ts'
import { type Failure, failure, unanswered } from './outcome.ts'
import type { ParsedSmtpUrl } from './smtp-url.ts'

export type Server = ParsedSmtpUrl & {
  /** Where to connect to, instead of what the name leads to. */
  addresses?: LookupAddress[]
  ca?: string | Buffer
  connectMs: number
  replyMs: number
  /** For the answer to the final dot. */
  finalMs: number
  idleMs: number
}

export const peerOf = ({ host, port }: Pick<Server, 'host' | 'port'>) =>
  isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`

export function connect(server: Server): { socket: Socket; connected: Promise<void> } {
  const { host, port, connectMs } = server
  // With the default of 250 ms a far host with several addresses is given up before it can answer.
  const lookup = lookupIn(server.addresses)
  const socket = connectTcp({ host, port, noDelay: true, autoSelectFamilyAttemptTimeout: 1000, ...lookup })
  const connected = arrival(socket, 'connect', connectMs, (error) => cannotConnect(server, error))
  return { socket, connected }
}

function lookupIn([first, ...others]: LookupAddress[] = []): { lookup?: LookupFunction } {
  if (first === undefined) return {}
  const lookup: LookupFunction = (_host, { all }, callback) => {
    if (all) callback(null, [first, ...others])
    else callback(null, first.address, first.family)
  }
  return { lookup }
}

export async function secure(socket: Socket, server: Server): Promise<TLSSocket> {
  const { host, ca, connectMs } = server
  const secured = connectTls({
    socket,
    host,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(ca === undefined ? {} : { ca }),
    rejectUnauthorized: verifiesCertificate(server),
  })
  await arrival(secured, 'secureConnect', connectMs, (error) => cannotSecure(server, error))
  return secured
}

/** RFC 7435: where plain text would do, a certificate that nobody vouches for is still the better choice. */
function verifiesCertificate({ tls, credentials, host }: Server): boolean {
  return tls !== 'opportunistic' || (credentials !== null && !isLoopback(host))
}

type Explain = (error: NodeJS.ErrnoException | undefined) => Failure

function arrival(socket: Socket, event: string, ms: number, explain: Explain): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (reason?: Failure) => {
      clearTimeout(timer)
      socket.off(event, arrived).off('error', failed).off('close', ended)
      if (reason === undefined) return resolve()
      // What is still to come of a socket given up must not bring the process down.
      socket.on('error', () => {})
      socket.destroy()
      reject(reason)
    }
    const arrived = () => settle()
    const failed = (error: Error) => settle(explain(error))
    const ended = () => settle(explain(undefined))
    const timer = setTimeout(() => settle(explain(late(ms))), ms)
    socket.on(event, arrived).on('error', failed).on('close', ended)
  })
}

const late = (ms: number) => Object.assign(new Error(`no answer within ${ms} ms`), { code: 'timeout' })

const reasons: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there (ECONNREFUSED)',
  ENOTFOUND: 'there is no such host (ENOTFOUND)',
  EAI_AGAIN: 'the host name cannot be looked up at present (EAI_AGAIN)',
  EHOSTUNREACH: 'there is no way to that host (EHOSTUNREACH)',
  ENETUNREACH: 'there is no way to that network (ENETUNREACH)',
}

// When all addresses of a host fail, the error that Node gives has a code but no message.
const reasonOf = (error: NodeJS.ErrnoException | undefined) =>
  error === undefined
    ? 'the server closed the connection'
    : (reasons[error.code ?? ''] ?? (error.message || error.code || 'no reason given'))

const cannotConnect = (server: Server, error?: NodeJS.ErrnoException) =>
  failure(unanswered(`cannot connect to ${peerOf(server)}: ${reasonOf(error)}`))

function cannotSecure(server: Server, error?: NodeJS.ErrnoException): Failure {
  const peer = peerOf(server)
  const code = error?.code ?? ''
  if (/CERT|ISSUER|LEAF_SIGNATURE/.test(code))
    return failure(unanswered(`the certificate of ${peer} is not trusted: ${error?.message ?? ''} (${code})`))
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/.test(code))
    return failure(
      unanswered(
        server.tls === 'implicit'
          ? `${peer} does not speak TLS from the start: use smtp:// for this port`
          : `${peer} offers STARTTLS, but what it sends then is not TLS`,
      ),
    )
  return failure(unanswered(`no TLS with ${peer}: ${reasonOf(error)}`))
}
