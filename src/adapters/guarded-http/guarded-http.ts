// Outgoing HTTP to addresses that customers name. Rules: OWASP API7:2023 and its SSRF cheat sheet.
import { lookup } from 'node:dns/promises'
import { Agent, type Dispatcher, errors } from 'undici'
import { within } from '../../kernel/within.ts'
import { checkHost, guardedConnector, type Resolve } from './connector.ts'
import { GuardedFault } from './fault.ts'
import { readTarget } from './target.ts'

export type { Resolve } from './connector.ts'
export { GuardedFault, type GuardedFaultCode } from './fault.ts'

export type GuardedRequest = {
  url: string
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  headers?: Record<string, string>
  body?: string | Buffer
  maxBytes: number
  /** For all of it, from the name to the last byte. */
  timeoutMs: number
}

export type GuardedAnswer = { status: number; headers: Record<string, string>; body: Buffer }

export type GuardedClient = {
  request(options: GuardedRequest): Promise<GuardedAnswer>
  /** Throws as a request would that gets no further than the connection; every connection is checked again. */
  check(url: string): Promise<void>
  /** Cuts off what is still under way. */
  close(): Promise<void>
}

type Progress = { reached: boolean; status?: number }
type Exchange = { agent: Agent; url: URL; headers: Record<string, string>; stop: Stop }

/** Ends the exchange: at once when it has a connection, or as soon as it gets one. */
type Stop = { isOver: boolean; controller?: Dispatcher.DispatchController }

const systemResolve: Resolve = async (host) =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address, family }) => ({
    address,
    family: family === 6 ? 6 : 4,
  }))

export function openGuardedClient(options: {
  allowPrivate: boolean
  resolve?: Resolve
  userAgent?: string
  /** To one host; null: as many as there are requests. */
  connections?: number | null
}): GuardedClient {
  const { allowPrivate, resolve = systemResolve, userAgent, connections = 16 } = options
  // The deadline is ours and covers everything; undici's own timers count idle time only.
  const agent = new Agent({
    connect: guardedConnector({ allowPrivate, resolve }),
    connections,
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  return {
    request: (wanted) => request(agent, userAgent, wanted),
    check: async (url) => checkHost(readTarget(url).hostname, { allowPrivate, resolve }),
    close: () => agent.destroy(),
  }
}

async function request(agent: Agent, userAgent: string | undefined, wanted: GuardedRequest) {
  const url = readTarget(wanted.url)
  const progress: Progress = { reached: false }
  const stop: Stop = { isOver: false }
  const exchange = { agent, url, headers: headersOf(wanted, userAgent), stop }
  const late = () =>
    new GuardedFault('timeout', `${url.host} took longer than ${wanted.timeoutMs} ms`, { ...progress })
  try {
    // A request that waits for its connection cannot be aborted, so the deadline is our own.
    return await within(wanted.timeoutMs, talk(exchange, wanted, progress), late)
  } catch (error) {
    stop.isOver = true
    stop.controller?.abort(new Error('given up'))
    throw faultOf(error, url.host, progress)
  }
}

/** By the dispatcher's own events: the streams above them cost as much as the exchange. */
function talk({ agent, url, headers, stop }: Exchange, wanted: GuardedRequest, progress: Progress) {
  const { method = 'GET', body } = wanted
  const path = url.pathname + url.search
  return new Promise<GuardedAnswer>((resolve, reject) => {
    const answer: GuardedAnswer = { status: 0, headers: {}, body: Buffer.alloc(0) }
    const chunks: Buffer[] = []
    let left = wanted.maxBytes
    const refuse = (controller: Dispatcher.DispatchController, fault: GuardedFault) => {
      reject(fault)
      controller.abort(fault)
    }
    agent.dispatch(
      { origin: url.origin, path, method, headers, body: body ?? null },
      {
        // The moment at which the request is about to be written to a connection.
        onRequestStart(controller) {
          progress.reached = true
          stop.controller = controller
          if (stop.isOver) controller.abort(new Error('given up'))
        },
        onResponseStart(controller, status, given) {
          if (status < 200) return
          progress.status = status
          answer.status = status
          answer.headers = plainHeaders(given)
          if (method === 'GET' && status >= 300 && status < 400)
            refuse(
              controller,
              new GuardedFault('redirect', `${url.host} answered with a redirect`, { ...progress }),
            )
          else if (Number(answer.headers['content-length'] ?? 0) > wanted.maxBytes)
            refuse(controller, tooLarge(url, wanted, progress))
        },
        onResponseData(controller, chunk) {
          left -= chunk.length
          if (left < 0) refuse(controller, tooLarge(url, wanted, progress))
          else chunks.push(Buffer.from(chunk))
        },
        onResponseEnd() {
          answer.body = Buffer.concat(chunks)
          resolve(answer)
        },
        onResponseError(_controller, error) {
          reject(error)
        },
      },
    )
  })
}

const tooLarge = ({ host }: URL, { maxBytes }: GuardedRequest, progress: Progress) =>
  new GuardedFault('too_large', `${host} sent more than ${maxBytes} bytes`, { ...progress })

// The client writes these itself; a second opinion on them is how requests are smuggled.
const reserved =
  /^(host|connection|content-length|transfer-encoding|keep-alive|expect|upgrade|te|trailer|proxy-.*)$/

function headersOf(wanted: GuardedRequest, userAgent: string | undefined): Record<string, string> {
  const given = Object.entries(wanted.headers ?? {}).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  )
  return {
    accept: '*/*',
    // Nothing is ever decompressed here: a bomb stays as small as it travels.
    'accept-encoding': 'identity',
    ...(userAgent === undefined ? {} : { 'user-agent': userAgent }),
    ...Object.fromEntries(given.filter(([name]) => !reserved.test(name))),
  }
}

function plainHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  )
}

function faultOf(error: unknown, host: string, progress: Progress): unknown {
  // A header or body that we put together wrongly is our bug and not the address's.
  if (error instanceof GuardedFault || error instanceof errors.InvalidArgumentError) return error
  const why = error instanceof AggregateError ? error.errors[0] : error
  const code = why instanceof Error && 'code' in why ? String(why.code) : ''
  if (code === 'UND_ERR_CONNECT_TIMEOUT') {
    return new GuardedFault('timeout', `${host} did not take the connection in time`, { cause: error })
  }
  const words = code || (why instanceof Error ? why.message : String(why))
  const what = progress.reached ? `the exchange with ${host} failed` : `no connection to ${host}`
  return new GuardedFault('unreachable', `${what}: ${words}`, { ...progress, cause: error })
}
