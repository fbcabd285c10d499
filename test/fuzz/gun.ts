// HTTP over bare sockets: a client library would refuse to send what this has to send.
import { connect, type Socket } from 'node:net'

export type Reply = { status: number; headers: Map<string, string>; body: Buffer; ms: number }
/** Why there was no answer. */
export type Silence = { silent: string; ms: number }

type Waiting = { started: number; withoutBody: boolean; isCut: boolean; done: (got: Reply | Silence) => void }

export type Gun = {
  fire(octets: Buffer, how: { method: string; isCut?: true }): Promise<Reply | Silence>
  close(): void
}

const patienceMs = 30_000

/** One connection, opened again when it was closed; one request at a time. */
export function openGun(port: number): Gun {
  let socket: Socket | undefined
  let pending = Buffer.alloc(0)
  let waiting: Waiting | undefined
  const end = (got: Omit<Reply, 'ms'> | Omit<Silence, 'ms'>) => {
    const was = waiting
    waiting = undefined
    was?.done({ ...got, ms: performance.now() - was.started } as Reply | Silence)
  }
  const open = () => {
    const made = connect(port, '127.0.0.1')
    made.setNoDelay(true)
    pending = Buffer.alloc(0)
    made.on('data', (chunk) => {
      pending = Buffer.concat([pending, chunk])
      const read = waiting && readReply(pending, waiting.withoutBody)
      if (!read) return
      pending = pending.subarray(read.length)
      if (read.reply.headers.get('connection') === 'close' || waiting?.isCut) drop()
      end(read.reply)
    })
    made.on('error', () => {})
    made.on('close', () => {
      if (socket === made) socket = undefined
      if (socket === undefined) end({ silent: 'the connection was closed' })
    })
    return made
  }
  const drop = () => {
    socket?.destroy()
    socket = undefined
  }
  return {
    fire: (octets, { method, isCut }) =>
      new Promise((done) => {
        socket ??= open()
        const timer = setTimeout(() => {
          drop()
          end({ silent: 'no answer' })
        }, patienceMs)
        const started = performance.now()
        waiting = {
          started,
          withoutBody: method === 'HEAD',
          isCut: isCut ?? false,
          done: (got) => {
            clearTimeout(timer)
            done(got)
          },
        }
        if (isCut) socket.end(octets)
        else socket.write(octets)
      }),
    close: drop,
  }
}

function readReply(
  octets: Buffer,
  withoutBody: boolean,
): { reply: Omit<Reply, 'ms'>; length: number } | undefined {
  const headEnd = octets.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const [first = '', ...lines] = octets.toString('latin1', 0, headEnd).split('\r\n')
  const status = Number(first.split(' ')[1])
  if (status === 100) return readReply(octets.subarray(headEnd + 4), withoutBody)
  const headers = new Map(lines.map((line) => splitAt(line, line.indexOf(':'))))
  const rest = octets.subarray(headEnd + 4)
  const body =
    withoutBody || status === 204 || status === 304
      ? { body: Buffer.alloc(0), length: 0 }
      : readBody(headers, rest)
  return body && { reply: { status, headers, body: body.body }, length: headEnd + 4 + body.length }
}

const splitAt = (line: string, at: number): [string, string] => [
  line.slice(0, at).toLowerCase(),
  line.slice(at + 1).trim(),
]

function readBody(headers: Map<string, string>, rest: Buffer): { body: Buffer; length: number } | undefined {
  if (headers.get('transfer-encoding') === 'chunked') return readChunks(rest)
  const length = Number(headers.get('content-length') ?? 0)
  return rest.length < length ? undefined : { body: rest.subarray(0, length), length }
}

function readChunks(rest: Buffer): { body: Buffer; length: number } | undefined {
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const lineEnd = rest.indexOf('\r\n', at)
    if (lineEnd < 0) return undefined
    const size = Number.parseInt(rest.toString('latin1', at, lineEnd), 16)
    const next = lineEnd + 2 + size + 2
    if (rest.length < next) return undefined
    if (size === 0) return { body: Buffer.concat(parts), length: next }
    parts.push(rest.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = next
  }
}
