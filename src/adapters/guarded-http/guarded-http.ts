// Outgoing HTTP to addresses that customers name. Rules: OWASP API7:2023 and its SSRF cheat sheet.
import { lookup } from 'node:dns/promises'
import { EventEmitter } from 'node:events'
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
type Exchange = { agent: Dispatcher; url: URL; headers: Record<string, string>; signal: EventEmitter }

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
  const marked = agent.compose(marking)
  return {
    request: (wanted) => request(marked, userAgent, wanted),
    check: async (url) => checkHost(readTarget(url).hostname, { allowPrivate, resolve }),
    close: () => agent.destroy(),
  }
}

async function request(agent: Dispatcher, userAgent: string | undefined, wanted: GuardedRequest) {
  const url = readTarget(wanted.url)
  const progress: Progress = { reached: false }
  // Costs a fraction of an AbortSignal, and is taken for one.
  const signal = new EventEmitter()
  const exchange = { agent, url, headers: headersOf(wanted, userAgent), signal }
  const late = () =>
    new GuardedFault('timeout', `${url.host} took longer than ${wanted.timeoutMs} ms`, { ...progress })
  try {
    // An aborted undici request still waits for its connection, so the deadline is not left to the signal.
    return await within(wanted.timeoutMs, talk(exchange, wanted, progress), late)
  } catch (error) {
    signal.emit('abort')
    throw faultOf(error, url.host, progress)
  }
}

async function talk(exchange: Exchange, wanted: GuardedRequest, progress: Progress): Promise<GuardedAnswer> {
  const { agent, url, headers, signal } = exchange
  const method = wanted.method ?? 'GET'
  const answer = await agent.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method,
    headers,
    body: wanted.body,
    signal,
    opaque: progress,
  })
  // Giving up on a body raises an event that ends the process when nobody listens.
  answer.body.on('error', () => {})
  progress.status = answer.statusCode
  if (method === 'GET' && answer.statusCode >= 300 && answer.statusCode < 400) {
    answer.body.destroy()
    throw new GuardedFault('redirect', `${url.host} answered with a redirect`, { ...progress })
  }
  const read = plainHeaders(answer.headers)
  const body = await collect(answer.body, Number(read['content-length'] ?? 0), wanted.maxBytes)
  if (body !== null) return { status: answer.statusCode, headers: read, body }
  throw new GuardedFault('too_large', `${url.host} sent more than ${wanted.maxBytes} bytes`, { ...progress })
}

async function collect(
  body: AsyncIterable<Buffer> & { destroy(): void },
  declared: number,
  maxBytes: number,
) {
  const chunks: Buffer[] = []
  let size = 0
  if (declared > maxBytes) {
    body.destroy()
    return null
  }
  for await (const chunk of body) {
    size += chunk.length
    // Leaving the loop destroys the stream, and the connection with it.
    if (size > maxBytes) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Notes the moment at which the request is about to be written to a connection. */
const marking: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
  dispatch(options, {
    onRequestStart(controller, context) {
      const { opaque } = options as { opaque?: unknown }
      Object.assign(opaque as Progress, { reached: true })
      handler.onRequestStart?.(controller, context)
    },
    onRequestUpgrade: (...all) => handler.onRequestUpgrade?.(...all),
    onResponseStart: (...all) => handler.onResponseStart?.(...all),
    onResponseData: (...all) => handler.onResponseData?.(...all),
    onResponseEnd: (...all) => handler.onResponseEnd?.(...all),
    onResponseError: (...all) => handler.onResponseError?.(...all),
  })

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
  const verb = progress.reached ? 'the exchange with' : 'no connection to'
  return new GuardedFault('unreachable', `${verb} ${host} failed: ${words}`, { ...progress, cause: error })
}
