// The inbound submission relay: a listener that speaks SMTP (RFC 5321, RFC 6409) and asks its caller every question.
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { createSecureContext } from 'node:tls'
import { openRoom } from '../../kernel/room.ts'
import { type Admission, openAdmission, plainAddress } from './admission.ts'
import { type Client, dismiss, newClient, type Relay, stop } from './client.ts'
import { attach, greet } from './converse.ts'
import type { RelayOptions } from './options.ts'
import { replies } from './replies.ts'
import { secure } from './secure.ts'

export type { RelayLogin, RelayMail, RelayOptions, RelaySession, RelayTimeouts } from './options.ts'

type Tls = NonNullable<RelayOptions<unknown>['tls']>

export type OpenRelay = {
  port: number
  securePort: number | undefined
  /** For the connections that come. */
  renew(tls: Tls): void
  close(): Promise<void>
}

const minute = 60_000
const defaults = { idleMs: 5 * minute, dataMs: 10 * minute, totalMs: 30 * minute }
const closeMs = 5_000
const backlog = 1_024

export async function openRelay<S>(options: RelayOptions<S>): Promise<OpenRelay> {
  const { tls, port, securePort } = options
  if (!tls && securePort !== undefined) throw new Error('The secure port of the relay needs a certificate')
  const relay: Relay = {
    options,
    timeouts: { ...defaults, ...options.timeouts },
    secureContext: tls ? contextOf(tls) : undefined,
    clients: new Set(),
    room: openRoom(options.room),
    closing: false,
    log: quietly(options.log),
  }
  const admission = openAdmission(options.maxConnections, options.maxConnectionsPerIp)
  const main = await listen(relay, port, (socket) => admit(relay, admission, socket, false))
  const servers = [main]
  try {
    if (securePort !== undefined)
      servers.push(await listen(relay, securePort, (socket) => admit(relay, admission, socket, true)))
  } catch (error) {
    main.close()
    throw error
  }
  const [opened = 0, openedSecure] = servers.map(portOf)
  const renew = (renewed: Tls) => {
    relay.secureContext = contextOf(renewed)
  }
  return { port: opened, securePort: openedSecure, renew, close: () => close(relay, servers) }
}

const contextOf = (tls: Tls) => createSecureContext({ ...tls, minVersion: 'TLSv1.2' })

function quietly(log: RelayOptions<unknown>['log']): Relay['log'] {
  return (event) => {
    try {
      log?.(event)
    } catch {}
  }
}

async function listen(
  { options, log }: Relay,
  port: number,
  meet: (socket: Socket) => void,
): Promise<Server> {
  // A client may close its side and still wait for the replies.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, meet)
  server.listen({ host: options.host, port, backlog })
  await once(server, 'listening')
  // Out of file descriptors, for one: the next connection may be luckier.
  server.on('error', ({ name, message }) => log({ event: 'relay.listener', name, message }))
  return server
}

function portOf(server: Server): number {
  const address = server.address()
  return address === null || typeof address === 'string' ? 0 : address.port
}

function admit(relay: Relay, admission: Admission, socket: Socket, secured: boolean): void {
  socket.on('error', () => socket.destroy())
  const ip = plainAddress(socket.remoteAddress)
  const entry = relay.closing ? 'closing' : admission.enter(ip)
  if (entry !== 'welcome') {
    turnAway(relay, socket, { ip, entry, secured })
    return
  }
  const client = newClient(relay, socket, ip)
  relay.clients.add(client)
  socket.once('close', () => {
    stop(client)
    relay.clients.delete(client)
    admission.leave(ip)
  })
  if (secured) secure(client, (wrapped) => start(client, wrapped))
  else start(client, socket)
}

function start(client: Client, socket: Socket): void {
  attach(client, socket)
  greet(client)
}

const reasons = {
  full: replies.tooManyConnections,
  crowded: replies.tooManyFromAddress,
  closing: replies.shuttingDown,
}

type TurnedAway = { ip: string; entry: keyof typeof reasons; secured: boolean }

function turnAway(relay: Relay, socket: Socket, { ip, entry, secured }: TurnedAway): void {
  relay.log({ event: 'relay.turned_away', ip, reason: entry })
  if (secured) socket.destroy()
  else socket.resume().end(`${reasons[entry]}\r\n`, () => socket.destroy())
}

async function close(relay: Relay, servers: Server[]): Promise<void> {
  relay.closing = true
  const closed = servers.map((server) => new Promise((done) => server.close(done)))
  // A message being stored is finished first; its answer then ends the connection.
  for (const client of relay.clients) if (!client.accepting) dismiss(client, replies.shuttingDown)
  const late = setTimeout(() => {
    for (const client of relay.clients) client.socket.destroy()
  }, closeMs)
  await Promise.all(closed)
  clearTimeout(late)
}
