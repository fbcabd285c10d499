// Outgoing HTTP to addresses that customers name. Rules: OWASP API7:2023 and its SSRF cheat sheet.
// HTTP/1.1 is spoken by hand: the common client library took a third of what a call of a webhook costs, and little of
// it is needed here (one request at a time on a connection, a short answer, no redirect, no upgrade).
import { lookup } from 'node:dns/promises'
import { LRUCache } from 'lru-cache'
import { type Connections, openConnections } from './connections.ts'
import { checkHost, type Guard, type Resolve } from './connector.ts'
import { GuardedFault, type GuardedFaultCode } from './fault.ts'
import { type Answer, type AnswerReader, answerReader } from './read-answer.ts'
import { readTarget } from './target.ts'
import { addressLines, requestWriter, type Written } from './write-request.ts'

export type { Resolve } from './connector.ts'
export { GuardedFault } from './fault.ts'

export type GuardedRequest = Written & {
  url: string
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  maxBytes: number
  /** Of one that is no GET: it does no harm when it arrives twice. */
  repeatable?: boolean
  /** For all of it, from the name to the last byte. */
  timeoutMs: number
  /** For what follows the head: after that, or where it is more than `maxBytes`, the answer is what has come. */
  bodyMs?: number
}

export type GuardedAnswer = Answer

export type GuardedClient = {
  request(options: GuardedRequest): Promise<GuardedAnswer>
  /** Throws as a request would that gets no further than the connection; every connection is checked again. */
  check(url: string): Promise<void>
  /** Cuts off what is still under way. */
  close(): Promise<void>
}

export type GuardedRequests = Pick<GuardedClient, 'request'>

type Progress = { reached: boolean; status?: number }

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
  const guard: Guard = { allowPrivate, resolve }
  const origins = openOrigins(guard, connections ?? Number.POSITIVE_INFINITY)
  const write = requestWriter(userAgent)
  const targets = new LRUCache<string, Target>({ max: 500 })
  const targetOf = (text: string) => {
    const known = targets.get(text)
    if (known) return known
    const url = readTarget(text)
    const target = { url, origin: url.origin, lines: addressLines(url) }
    targets.set(text, target)
    return target
  }
  return {
    request: async (wanted) => {
      const target = targetOf(wanted.url)
      return exchange(
        { url: target.url, to: origins.of(target), request: write(target.lines, wanted) },
        wanted,
      )
    },
    check: async (url) => checkHost(readTarget(url).hostname, guard),
    close: async () => origins.close(),
  }
}

/** Where a request goes, and the lines of its head that say so. */
type Target = { url: URL; origin: string; lines: string }

type Origins = { of(target: Target): Connections; close(): void }

function openOrigins(guard: Guard, most: number): Origins {
  const known = new Map<string, Connections>()
  let isClosed = false

  function open({ url, origin }: Target): Connections {
    const opened = openConnections({ guard, url, most, onEmpty: () => known.delete(origin) })
    known.set(origin, opened)
    return opened
  }

  return {
    of(target) {
      if (isClosed) throw new GuardedFault('unreachable', 'the client is closed')
      return known.get(target.origin) ?? open(target)
    },
    close() {
      isClosed = true
      for (const one of known.values()) one.close()
    },
  }
}

type Way = { url: URL; to: Connections; request: string | Buffer }

function exchange({ url, to, request }: Way, wanted: GuardedRequest): Promise<GuardedAnswer> {
  const { method = 'GET', timeoutMs, bodyMs, repeatable = method === 'GET' } = wanted
  const progress: Progress = { reached: false }
  const timers: NodeJS.Timeout[] = []
  let cutOff = () => {}
  const reader = readerFor({ host: url.host, wanted, progress }, () => {
    if (bodyMs !== undefined) timers.push(setTimeout(() => cutOff(), bodyMs))
  })
  return new Promise((resolve, reject) => {
    const under = {
      request,
      reader,
      isRepeatable: repeatable,
      onStart() {
        progress.reached = true
      },
      onEnd(error?: Error) {
        timers.forEach(clearTimeout)
        if (bodyMs !== undefined && isTooLarge(error)) return resolve(reader.soFar())
        if (!error) return resolve(reader.answer)
        progress.status ??= reader.status()
        reject(faultOf(error, url.host, progress))
      },
    }
    cutOff = () => {
      to.giveUp(under)
      timers.forEach(clearTimeout)
      resolve(reader.soFar())
    }
    // For all of it, however busy the other side looks.
    const late = () => {
      to.giveUp(under)
      timers.forEach(clearTimeout)
      progress.status ??= reader.status()
      reject(new GuardedFault('timeout', `${url.host} took longer than ${timeoutMs} ms`, { ...progress }))
    }
    timers.push(setTimeout(late, timeoutMs))
    to.begin(under)
  })
}

const isTooLarge = (error?: Error) => error instanceof GuardedFault && error.code === 'too_large'

type Reading = { host: string; wanted: GuardedRequest; progress: Progress }

function readerFor({ host, wanted, progress }: Reading, onHead: () => void): AnswerReader {
  const { method = 'GET', maxBytes } = wanted
  const fault = (code: GuardedFaultCode, what: string) =>
    new GuardedFault(code, `${host} ${what}`, { ...progress })
  const tooLarge = () => fault('too_large', `sent more than ${maxBytes} bytes`)
  let left = maxBytes
  return answerReader({
    onHead({ status, headers }) {
      progress.status = status
      if (method === 'GET' && status >= 300 && status < 400)
        throw fault('redirect', 'answered with a redirect')
      if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge()
      onHead()
    },
    onBody(bytes) {
      left -= bytes
      if (left < 0) throw tooLarge()
    },
  })
}

function faultOf(error: Error, host: string, progress: Progress): GuardedFault {
  if (error instanceof GuardedFault) return error
  const why = error instanceof AggregateError ? error.errors[0] : error
  const code = why instanceof Error && 'code' in why ? String(why.code) : ''
  const words = code || (why instanceof Error ? why.message : String(why))
  const what = progress.reached ? `the exchange with ${host} failed` : `no connection to ${host}`
  return new GuardedFault('unreachable', `${what}: ${words}`, { ...progress, cause: error })
}
