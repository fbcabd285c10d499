import type { Socket } from 'node:net'
import { hostname } from 'node:os'
import { type Channel, openChannel } from './channel.ts'
import { connect, peerOf, type Server, secure } from './connect.ts'
import { login } from './login.ts'
import { failure, saidBy, unanswered } from './outcome.ts'
import type { Reply } from './replies.ts'

/** A connection that is ready for messages. */
export type Session = {
  channel: Channel
  pipelining: boolean
  /** RFC 1870; null when the server does not speak of sizes, 0 when it names no limit. */
  sizeLimit: number | null
  /** RFC 6152. */
  eightBit: boolean
  replyMs: number
  finalMs: number
  openedAt: number
  begun: number
  answered: number
}

type Extensions = Map<string, string[]>

/** Fails with a reason that a person can act on. */
export async function openSession(server: Server, stop: AbortSignal): Promise<Session> {
  const openedAt = performance.now()
  const { socket, connected } = connect(server)
  const abandon = () => socket.destroy()
  stop.addEventListener('abort', abandon)
  try {
    await connected
    const { channel, extensions } = await introduce(socket, server)
    const size = extensions.get('SIZE')
    return {
      channel,
      pipelining: extensions.has('PIPELINING'),
      sizeLimit: size === undefined ? null : Number(size[0]) || 0,
      eightBit: extensions.has('8BITMIME'),
      replyMs: server.replyMs,
      finalMs: server.finalMs,
      openedAt,
      begun: 0,
      answered: 0,
    }
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    stop.removeEventListener('abort', abandon)
  }
}

type Introduced = { channel: Channel; extensions: Extensions }

async function introduce(socket: Socket, server: Server): Promise<Introduced> {
  const { tls, credentials, replyMs } = server
  const first = tls === 'implicit' ? await secure(socket, server) : socket
  const plain = openChannel(first, peerOf(server))
  await greeting(plain, server)
  const name = server.name ?? ownName(socket)
  const offered = await hello(plain, name, replyMs)
  const { channel, extensions } = wantsStartTls(server, offered)
    ? await startTls(plain, socket, { server, name })
    : { channel: plain, extensions: offered }
  if (credentials) await login(channel, { credentials, replyMs, offered: extensions.get('AUTH') ?? [] })
  return { channel, extensions }
}

async function greeting(channel: Channel, { tls, replyMs }: Server): Promise<void> {
  const { reply, loss } = await channel.answer(replyMs)
  if (loss?.timedOut && tls !== 'implicit')
    throw failure(unanswered(`${loss.said.message} (a port that expects TLS at once needs smtps://)`))
  if (loss) throw failure(loss.said)
  if (reply.code !== 220)
    throw failure(saidBy(reply, `the mail server takes no connection (${reply.code}): `))
}

/** RFC 5321 4.1.4: a server that does not know EHLO may know HELO. */
async function hello(channel: Channel, name: string, replyMs: number): Promise<Extensions> {
  for (const verb of ['EHLO', 'HELO']) {
    channel.write(`${verb} ${name}\r\n`)
    const { reply, loss } = await channel.answer(replyMs)
    if (loss) throw failure(loss.said)
    if (reply.code === 250) return verb === 'EHLO' ? extensionsIn(reply) : new Map()
    if (verb === 'HELO' || reply.code < 500)
      throw failure(saidBy(reply, `the mail server refuses ${verb} ${name} (${reply.code}): `))
  }
  return new Map()
}

function extensionsIn({ lines }: Reply): Extensions {
  const extensions: Extensions = new Map()
  for (const line of lines.slice(1)) {
    // "AUTH=LOGIN" is how some servers still write it.
    const [keyword = '', ...values] = line.toUpperCase().split(/[ =]+/)
    extensions.set(keyword, [...(extensions.get(keyword) ?? []), ...values.filter(Boolean)])
  }
  return extensions
}

function wantsStartTls({ tls, ...server }: Server, extensions: Extensions): boolean {
  const offered = extensions.has('STARTTLS')
  if (tls === 'required' && !offered)
    throw failure(
      unanswered(`${peerOf(server)} offers no STARTTLS (if it may go unencrypted, add "tls=off")`),
    )
  return offered && (tls === 'required' || tls === 'opportunistic')
}

type Self = { server: Server; name: string }

/** RFC 3207 4.2: what was said in the clear, and whatever lay behind the reply to STARTTLS, counts for nothing. */
async function startTls(plain: Channel, socket: Socket, { server, name }: Self): Promise<Introduced> {
  plain.write('STARTTLS\r\n')
  const { reply, loss } = await plain.lastAnswer(server.replyMs)
  if (loss) throw failure(loss.said)
  if (reply.code !== 220) throw failure(saidBy(reply, `the mail server refuses STARTTLS (${reply.code}): `))
  const channel = openChannel(await secure(socket, server), peerOf(server))
  return { channel, extensions: await hello(channel, name, server.replyMs) }
}

/** RFC 5321 4.1.4: a name that others can look up, or else the address. */
function ownName(socket: Socket): string {
  const name = hostname()
  if (/^[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(name)) return name
  const address = socket.localAddress ?? '127.0.0.1'
  const mapped = /^::ffff:(?<four>\d+\.\d+\.\d+\.\d+)$/.exec(address)?.groups?.four
  return socket.localFamily === 'IPv6' && !mapped ? `[IPv6:${address}]` : `[${mapped ?? address}]`
}

const farewellMs = 2000

/** The server's farewell is a courtesy: nobody depends on it. */
export async function quit(channel: Channel, replyMs: number): Promise<void> {
  channel.write('QUIT\r\n')
  await channel.answer(Math.min(replyMs, farewellMs))
  channel.abandon(unanswered('the connection was ended'))
}
