// One connected client: what it has told us so far, and how we talk back.
import type { Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import type { Room } from '../../kernel/room.ts'
import type { Hold } from './hold.ts'
import type { Intake } from './intake.ts'
import type { RelayOptions, RelayTimeouts } from './options.ts'
import { isFault, isLast, replies } from './replies.ts'

export type Relay = {
  options: RelayOptions<unknown>
  timeouts: Required<RelayTimeouts>
  secureContext: SecureContext | undefined
  clients: Set<Client>
  /** For large messages that come in. */
  room: Room
  closing: boolean
  /** Never throws: a lost line must not turn a stored message into a refused one. */
  log(event: object): void
}

/** A reply at once, or after a decision of the caller of the relay; never a rejection. */
export type Step = string | Promise<string>

export type Envelope = { from: string; recipients: string[] }
export type Message = { intake: Intake; startedAt: number; deadline: NodeJS.Timeout; hold: Hold }

export type Client = {
  readonly relay: Relay
  readonly ip: string
  /** Another one after STARTTLS. */
  socket: Socket
  secure: boolean
  greeted: boolean
  session: { is: unknown } | undefined
  envelope: Envelope | undefined
  /** While DATA comes in. */
  message: Message | undefined
  /** Takes the next line of an AUTH exchange. */
  answerNext: ((line: string) => Step) | undefined
  input: Buffer
  /** Octets of the input known to hold no line end. */
  scanned: number
  /** Octets dropped of a line that is too long. */
  skipped: number
  out: string
  /** A decision of the caller is under way; what comes in meanwhile waits. */
  busy: boolean
  /** The decision under way is the storing of a message, which must not be cut short. */
  accepting: boolean
  /** The client does not read our replies. */
  blocked: boolean
  upgrading: boolean
  ended: boolean
  over: boolean
  /** Since the last message. */
  commands: number
  /** Recipients since the last message, also those that were refused. */
  named: number
  faults: number
  failedLogins: number
  timers: { idle: NodeJS.Timeout; total: NodeJS.Timeout }
}

const maxFaults = 10
const lingerMs = 1_000
const flushAt = 8_192
export const nothing: Buffer = Buffer.alloc(0)

export function newClient(relay: Relay, socket: Socket, ip: string): Client {
  const client: Client = {
    relay,
    ip,
    socket,
    secure: false,
    greeted: false,
    session: undefined,
    envelope: undefined,
    message: undefined,
    answerNext: undefined,
    input: nothing,
    scanned: 0,
    skipped: 0,
    out: '',
    busy: false,
    accepting: false,
    blocked: false,
    upgrading: false,
    ended: false,
    over: false,
    commands: 0,
    named: 0,
    faults: 0,
    failedLogins: 0,
    timers: {
      idle: setTimeout(() => expire(client, 'idle'), relay.timeouts.idleMs),
      total: setTimeout(() => expire(client, 'total'), relay.timeouts.totalMs),
    },
  }
  return client
}

// The storing of a message has a deadline of its own.
function expire(client: Client, timer: 'idle' | 'total'): void {
  if (client.accepting) client.timers[timer].refresh()
  else dismiss(client, replies.timeout)
}

/** RFC 3207 §4.2: what was learned before the handshake is forgotten; the counts of misdeeds are not. */
export function forgetAll(client: Client): void {
  client.greeted = false
  client.session = undefined
  client.envelope = undefined
  client.answerNext = undefined
  client.input = nothing
  client.scanned = 0
}

export function answer(client: Client, reply: string): void {
  client.timers.idle.refresh()
  client.out += `${reply}\r\n`
  if (isLast(reply)) hangUp(client)
  else if (client.relay.closing) dismiss(client, replies.shuttingDown)
  else if (isFault(reply) && ++client.faults >= maxFaults) dismiss(client, replies.tooManyErrors)
  else if (client.out.length > flushAt) flush(client)
}

export function flush(client: Client): void {
  if (client.out === '') return
  const text = client.out
  client.out = ''
  if (!client.socket.write(text, 'latin1')) client.blocked = true
}

/** A last word, unless the client would not hear it anyway. */
export function dismiss(client: Client, goodbye: string): void {
  if (client.over) return
  if (client.upgrading || client.blocked) drop(client)
  else {
    client.out += `${goodbye}\r\n`
    hangUp(client)
  }
}

// Closing with unread input would send a reset, which can overtake our last reply: so read on for a moment.
export function hangUp(client: Client): void {
  const { socket } = client
  flush(client)
  stop(client)
  socket.end()
  socket.resume()
  const linger = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(linger))
}

export function drop(client: Client): void {
  stop(client)
  client.socket.destroy()
}

export function stop(client: Client): void {
  client.over = true
  client.input = nothing
  clearTimeout(client.timers.idle)
  clearTimeout(client.timers.total)
  clearTimeout(client.message?.deadline)
  client.message?.hold.release()
  client.message = undefined
}
