import type { Socket } from 'node:net'
import type { Said } from '../../kernel/ports.ts'
import { saidBy, unanswered } from './outcome.ts'
import { openReplyReader, type Reply } from './replies.ts'

export type Loss = { said: Said; timedOut: boolean }
export type Answer = { reply: Reply; loss?: undefined } | { loss: Loss; reply?: undefined }

/** A connection on which every reply belongs to the oldest command without one. */
export type Channel = {
  /** One octet a character; `flushed` hears whether the operating system took all the bytes. */
  write(bytes: string, flushed?: (whole: boolean) => void): void
  /** What is written inside leaves in as few packets as possible. */
  together(write: () => void): void
  answer(withinMs: number): Promise<Answer>
  /** The answer to the last command: what stands behind it is dropped unread, and the socket is free. */
  lastAnswer(withinMs: number): Promise<Answer>
  /** Something moved: the time for the answer starts again. */
  touch(): void
  loss(): Loss | undefined
  abandon(said: Said): void
  /** An idle connection does not keep the process alive. */
  keepAlive(yes: boolean): void
  closed: Promise<void>
}

type Awaited = { ms: number; last: boolean; resolve: (answer: Answer) => void }

export function openChannel(socket: Socket, peer: string): Channel {
  const reader = openReplyReader()
  const awaited: Awaited[] = []
  let timer: NodeJS.Timeout | undefined
  let timed: number | undefined
  let loss: Loss | undefined
  let held: string | undefined

  /** The time runs for the oldest command; one timer goes on while its length stays the same. */
  const arm = () => {
    const ms = awaited[0]?.ms
    if (ms !== undefined && ms === timed) return timer?.refresh()
    clearTimeout(timer)
    timed = ms
    timer = ms === undefined ? undefined : setTimeout(() => lose(lateAnswer(peer, ms), true), ms)
  }

  const lose = (said: Said, timedOut = false) => {
    if (loss) return
    loss = { said, timedOut }
    clearTimeout(timer)
    for (const { resolve } of awaited.splice(0)) resolve({ loss })
    socket.destroy()
  }

  const deliver = (reply: Reply) => {
    const head = awaited.shift()
    if (head === undefined)
      return lose(reply.code === 421 ? saidBy(reply) : unanswered(`${peer} spoke out of turn`))
    arm()
    if (head.last) socket.off('data', read)
    head.resolve({ reply })
    // RFC 5321 3.8: the server is about to close, whatever the command was.
    if (reply.code === 421) lose(saidBy(reply))
    return head.last
  }

  const read = (bytes: Buffer) => {
    reader.push(bytes)
    for (let next = reader.next(); next && !loss; next = reader.next()) {
      if ('garbage' in next) return lose(unanswered(`${peer} does not speak SMTP: it sent ${next.garbage}`))
      if (deliver(next)) return
    }
  }

  const expect = (ms: number, last: boolean) =>
    new Promise<Answer>((resolve) => {
      if (loss) return resolve({ loss })
      awaited.push({ ms, last, resolve })
      if (awaited.length === 1) arm()
    })

  socket.on('data', read)
  socket.on('end', () => lose(unanswered(`${peer} closed the connection`)))
  socket.on('error', (error) => lose(brokenConnection(peer, error)))
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      lose(unanswered(`${peer} closed the connection`))
      resolve()
    })
  })

  return {
    write(bytes, flushed) {
      if (held === undefined) writeTo(socket, bytes, flushed)
      else held += bytes
    },
    together(write) {
      held = ''
      write()
      const all = held
      held = undefined
      if (all !== '') writeTo(socket, all)
    },
    answer: (withinMs) => expect(withinMs, false),
    lastAnswer: (withinMs) => expect(withinMs, true),
    touch: arm,
    loss: () => loss,
    abandon: (said) => lose(said),
    keepAlive: (yes) => (yes ? socket.ref() : socket.unref()),
    closed,
  }
}

function writeTo(socket: Socket, bytes: string, flushed?: (whole: boolean) => void) {
  if (socket.destroyed) return flushed?.(false)
  socket.write(bytes, 'latin1', flushed && ((error) => flushed(!error)))
}

const lateAnswer = (peer: string, ms: number) => unanswered(`${peer} did not answer within ${ms} ms`)

const brokenConnection = (peer: string, error: NodeJS.ErrnoException) =>
  unanswered(`the connection to ${peer} broke (${error.code ?? error.message})`)
