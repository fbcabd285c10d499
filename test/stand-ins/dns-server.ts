// A DNS server on loopback with the records a test gives it, over UDP and TCP as a resolver would be.
import type { Socket } from 'node:net'
import { after } from 'node:test'
import dns2 from 'dns2'

type Type = 'A' | 'AAAA' | 'CNAME' | 'MX' | 'TXT'

/** A text may be given as its strings. */
type Value = string | string[] | { exchange: string; priority: number }

/**
 * What `name TYPE` answers: records, or a server that fails or stays silent. What is not there does not exist; a name
 * that has other records, or names below it, has none of that type. Aliases are followed.
 */
export type Zone = Record<string, Value[] | 'fails' | 'silent'>

export type DnsServerOptions = {
  /** Gets every question, as `name TYPE`. */
  asked?: string[]
  /** How long the answer to `name TYPE` takes. */
  delayMs?: Record<string, number>
  /** False: an answer too long for UDP cannot be had. */
  tcp?: boolean
}

const { Packet } = dns2
// RFC 1035 §4.1.1.
const [serverFailure, noSuchName] = [2, 3]
const longestString = 255

/** `zone` is read at every question: a test may change it. Gives the address for POSTHORN_DNS. */
export async function startDnsServer(zone: Zone, options: DnsServerOptions = {}): Promise<string> {
  const handle: Handle = (request, send) => answer(zone, options, request, send)
  return `127.0.0.1:${await listen(handle, options)}`
}

const mostTries = 20

/** One port for both. Whoever else uses it over TCP, and be it for a call of his own, has it: then another one. */
async function listen(handle: Handle, options: DnsServerOptions, tries = 1): Promise<number> {
  const udp = dns2.createUDPServer(handle)
  await udp.listen(0, '127.0.0.1')
  const { port } = udp.address()
  try {
    if (options.tcp !== false) await listenTcp(handle, port)
  } catch (error) {
    udp.close()
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || tries === mostTries) throw error
    return listen(handle, options, tries + 1)
  }
  after(() => udp.close())
  return port
}

async function listenTcp(handle: Handle, port: number): Promise<void> {
  const server = dns2.createTCPServer(handle)
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => open.add(socket))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  after(() => {
    server.close()
    for (const socket of open) socket.destroy()
  })
}

type Handle = Extract<NonNullable<Parameters<typeof dns2.createUDPServer>[0]>, (...all: never[]) => unknown>
type Request = Parameters<Handle>[0]
type Send = Parameters<Handle>[1]

function answer(zone: Zone, { asked, delayMs = {} }: DnsServerOptions, request: Request, send: Send): void {
  const [question] = request.questions
  const name = question?.name.toLowerCase() ?? ''
  const type = Object.entries(Packet.TYPE).find(([, number]) => number === question?.type)?.[0] ?? ''
  const key = `${name} ${type}`
  asked?.push(key)
  const response = Packet.createResponseFromRequest(request)
  const rcode = fill(response, zone, name, type as Type)
  if (rcode === 'silent') return
  response.header.rcode = rcode
  const delay = delayMs[key]
  if (delay === undefined) send(response)
  else setTimeout(() => send(response), delay)
}

// What a resolver gives up after.
const longestChain = 12

function fill(
  response: InstanceType<typeof Packet>,
  zone: Zone,
  name: string,
  type: Type,
): number | 'silent' {
  const found = zone[`${name} ${type}`]
  if (found === 'silent') return 'silent'
  if (found === 'fails' || response.answers.length > longestChain) return serverFailure
  for (const one of found ?? []) response.answers.push(recordOf(name, type, one))
  const [alias] = zone[`${name} CNAME`] ?? []
  if (!found && typeof alias === 'string') {
    response.answers.push(recordOf(name, 'CNAME', alias))
    return fill(response, zone, alias, type)
  }
  const isThere = Object.keys(zone).some((key) => key.startsWith(`${name} `) || key.includes(`.${name} `))
  return isThere ? 0 : noSuchName
}

function recordOf(name: string, type: Type, value: Value): never {
  return { name, type: Packet.TYPE[type], class: Packet.CLASS.IN, ttl: 60, ...dataOf(type, value) } as never
}

function dataOf(type: Type, value: Value) {
  if (typeof value === 'object' && !Array.isArray(value)) return value
  if (type === 'TXT') return { data: Array.isArray(value) ? value : stringsOf(value) }
  return type === 'CNAME' ? { domain: value } : { address: value }
}

function stringsOf(text: string): Buffer[] {
  const bytes = Buffer.from(text)
  const count = Math.max(1, Math.ceil(bytes.length / longestString))
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * longestString, (i + 1) * longestString))
}
