// Connections to one origin, kept for the requests that follow. One request at a time on each.
import type { Socket } from 'node:net'
import { connectGuarded, type Guard } from './connector.ts'
import type { AnswerReader } from './read-answer.ts'

export type Exchange = {
  /** What is written, head and body. */
  request: string | Buffer
  reader: AnswerReader
  /** It does no harm when it arrives twice. */
  isRepeatable: boolean
  /** It is about to be written to a connection. */
  onStart(): void
  /** Without an error the answer is complete. Called once. */
  onEnd(error?: Error): void
  connection?: Connection
  isAnswered?: boolean
  isRepeated?: boolean
  isOver?: boolean
}

type Connection = {
  socket: Socket
  exchange: Exchange | undefined
  /** It has brought an answer before. */
  isUsed: boolean
  isKept: boolean
  freeUntil: number
}

export type Connections = {
  begin(exchange: Exchange): void
  /** Its outcome is of no interest any more. */
  giveUp(exchange: Exchange): void
  close(): void
}

// Servers often close after five seconds, and some say when; a request that crosses that on its way would be lost.
const longestFreeMs = 4_000
const crossingMs = 1_000

type Options = { guard: Guard; url: URL; most: number; onEmpty: () => void }

export function openConnections({ guard, url, most, onEmpty }: Options): Connections {
  const open = new Set<Connection>()
  const free: Connection[] = []
  const waiting: Exchange[] = []
  let sweeping: NodeJS.Timeout | undefined
  let isClosed = false

  function begin(exchange: Exchange): void {
    const kept = takeFree()
    if (kept) start(kept, exchange)
    else if (open.size < most) connect(exchange)
    else waiting.push(exchange)
  }

  function takeFree(): Connection | undefined {
    // The last that became free: it is the least likely to be closed by now.
    const last = free.pop()
    if (!last || performance.now() < last.freeUntil) return last
    last.socket.destroy()
    return undefined
  }

  function connect(exchange: Exchange): void {
    const connection: Connection = {
      socket: undefined as never,
      exchange,
      isUsed: false,
      isKept: false,
      freeUntil: 0,
    }
    try {
      connection.socket = connectGuarded(guard, url, () => start(connection, exchange))
    } catch (error) {
      end(exchange, error as Error)
      if (open.size === 0) onEmpty()
      return
    }
    exchange.connection = connection
    open.add(connection)
    listen(connection)
  }

  function start(connection: Connection, exchange: Exchange): void {
    const { socket } = connection
    connection.exchange = exchange
    exchange.connection = connection
    exchange.onStart()
    if (connection.isKept) socket.ref()
    // Text is of one byte a character here: the fastest way into the socket.
    socket.write(exchange.request as string, 'latin1')
  }

  function listen(connection: Connection): void {
    const { socket } = connection
    let fault: Error | undefined
    socket.on('data', (chunk: Buffer) => onData(connection, chunk))
    socket.on('error', (error) => {
      fault = error
    })
    socket.on('end', () => {
      const { exchange } = connection
      if (!exchange?.reader.end()) return
      end(exchange)
      // By itself it would wait for the other side to read the rest of the request, for ever where that does not.
      socket.destroy()
    })
    socket.on('close', () => {
      lose(connection)
      const { exchange } = connection
      if (exchange && mayRepeat(connection, exchange)) repeat(exchange)
      else if (exchange) end(exchange, fault ?? new Error('the other side closed the connection'))
      goOn()
    })
  }

  /** RFC 9112 9.3.1: the server had closed a connection that was kept, before it saw what we wrote to it. */
  const mayRepeat = ({ isUsed }: Connection, { isRepeatable, isAnswered, isRepeated, isOver }: Exchange) =>
    isUsed && isRepeatable && !isAnswered && !isRepeated && !isOver && !isClosed

  function repeat(exchange: Exchange): void {
    exchange.isRepeated = true
    connect(exchange)
  }

  function onData(connection: Connection, chunk: Buffer): void {
    const { exchange, socket } = connection
    // Said without being asked.
    if (!exchange) return void socket.destroy()
    exchange.isAnswered = true
    try {
      if (!exchange.reader.read(chunk)) return
    } catch (error) {
      end(exchange, error as Error)
      socket.destroy()
      return
    }
    connection.exchange = undefined
    connection.isUsed = true
    const freeMs = exchange.reader.mayFollow() && socket.writableLength === 0 ? keptMs(exchange) : 0
    if (freeMs > 0) release(connection, freeMs)
    else socket.destroy()
    end(exchange)
  }

  function release(connection: Connection, freeMs: number): void {
    const next = nextWaiting()
    if (next) {
      start(connection, next)
      return
    }
    connection.freeUntil = performance.now() + freeMs
    connection.isKept = true
    connection.socket.unref()
    free.push(connection)
    sweeping ??= setTimeout(sweep, longestFreeMs).unref()
  }

  function sweep(): void {
    sweeping = undefined
    const now = performance.now()
    for (const one of [...free]) if (now >= one.freeUntil) one.socket.destroy()
    if (free.length > 0) sweeping = setTimeout(sweep, longestFreeMs).unref()
  }

  function nextWaiting(): Exchange | undefined {
    for (;;) {
      const next = waiting.shift()
      if (!next?.isOver) return next
    }
  }

  function lose(connection: Connection): void {
    open.delete(connection)
    const at = free.indexOf(connection)
    if (at >= 0) free.splice(at, 1)
  }

  /** A connection less: who waits may open another. */
  function goOn(): void {
    const next = open.size < most ? nextWaiting() : undefined
    if (next) connect(next)
    else if (open.size === 0) {
      clearTimeout(sweeping)
      onEmpty()
    }
  }

  return {
    begin,
    giveUp(exchange) {
      exchange.isOver = true
      exchange.connection?.socket.destroy()
    },
    close() {
      isClosed = true
      for (const exchange of waiting.splice(0)) end(exchange, new Error('the client was closed'))
      for (const { socket } of open) socket.destroy(new Error('the client was closed'))
    },
  }
}

function keptMs({ reader }: Exchange): number {
  const said = /timeout=(\d{1,6})/.exec(reader.answer.headers['keep-alive'] ?? '')
  return Math.min(longestFreeMs, said ? Number(said[1]) * 1000 - crossingMs : longestFreeMs)
}

function end(exchange: Exchange, error?: Error): void {
  if (exchange.isOver) return
  exchange.isOver = true
  exchange.connection = undefined
  exchange.onEnd(error)
}
