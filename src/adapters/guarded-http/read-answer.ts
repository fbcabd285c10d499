// The answer of an HTTP/1.1 server, read as it comes (RFC 9112). Whatever could be understood in two ways is refused.
export type Answer = { status: number; headers: Readonly<Record<string, string>>; body: Buffer }

export type AnswerReader = {
  /** Whether the answer is complete with this. */
  read(chunk: Buffer): boolean
  /** Whether it is complete now that nothing more comes. */
  end(): boolean
  /** Of a complete answer: whether another may follow it on the same connection. */
  mayFollow(): boolean
  answer: Answer
  /** What has come of an answer whose head is complete. */
  soFar(): Answer
  /** As soon as the line is there that says it. */
  status(): number | undefined
}

/** Throws to refuse what the head announces. */
type Heads = { onHead(answer: Answer): void; onBody(bytes: number): void }

const longestHead = 16 * 1024
const mostInterim = 10
const nothing = Buffer.alloc(0)

type Body = { take(chunk: Buffer): Buffer | undefined; isEndedByClose?: true }

export function answerReader({ onHead, onBody }: Heads): AnswerReader {
  const answer: Answer = { status: 0, headers: {}, body: nothing }
  const kept = growing()
  let head: Buffer = nothing
  let interim = 0
  let body: Body | undefined
  let isKept = false
  let isComplete = false

  function keep(chunk: Buffer): void {
    if (chunk.length === 0) return
    onBody(chunk.length)
    kept.add(chunk)
  }

  /** What follows the head, as soon as all of that is there; heads of interim answers are passed over. */
  function readHead(chunk: Buffer): Buffer | undefined {
    for (let rest = join(head, chunk); ; ) {
      head = rest
      const end = rest.indexOf('\r\n\r\n')
      if (end > longestHead || (end < 0 && rest.length > longestHead)) throw unreadable('a head without end')
      if (end < 0) return undefined
      const read = headOf(rest.toString('latin1', 0, end))
      rest = rest.subarray(end + 4)
      if (read.status < 200) {
        if (read.status === 101 || ++interim > mostInterim) throw unreadable(`status ${read.status}`)
        continue
      }
      answer.status = read.status
      answer.headers = read.headers
      isKept = read.isKept
      onHead(answer)
      body = bodyOf(answer, keep)
      return rest
    }
  }

  return {
    answer,
    read(chunk) {
      const rest = body ? body.take(chunk) : readBoth(chunk)
      if (rest === undefined) return false
      // What nobody asked for may be meant for the next request.
      if (rest.length > 0) isKept = false
      answer.body = kept.all()
      isComplete = true
      return true
    },
    end() {
      if (!body?.isEndedByClose) return false
      answer.body = kept.all()
      return true
    },
    mayFollow: () => isComplete && isKept,
    soFar: () => ({ ...answer, body: Buffer.from(kept.all()) }),
    status: () => answer.status || statusIn(head.toString('latin1', 0, longestStatusLine)),
  }

  function readBoth(chunk: Buffer): Buffer | undefined {
    const rest = readHead(chunk)
    return rest && body?.take(rest)
  }
}

const longestStatusLine = 200

function statusIn(begun: string): number | undefined {
  const [, status] = /^HTTP\/1\.[01] ([2-9]\d\d)(?: [^\r\n\0]*)?\r?\n/.exec(begun) ?? []
  return status === undefined ? undefined : Number(status)
}

const unreadable = (what: string) => new Error(`the answer cannot be read as HTTP: ${what}`)

/** One buffer, since a body in small chunks would be a million of them, each with all it came in behind it. */
function growing() {
  let room: Buffer = nothing
  let length = 0
  return {
    add(part: Buffer): void {
      // Most come in one piece, and that is not copied.
      if (length === 0) room = part
      else {
        if (room.length < length + part.length) room = enlarged(room, length, 2 * (length + part.length))
        part.copy(room, length)
      }
      length += part.length
    },
    /** Without the room that is left, which may be as much again. */
    all: () => (room.length === length ? room : Buffer.from(room.subarray(0, length))),
  }
}

function enlarged(room: Buffer, length: number, size: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(size)
  room.copy(larger, 0, 0, length)
  return larger
}

const join = (a: Buffer, b: Buffer) => (a.length === 0 ? b : Buffer.concat([a, b]))

type Head = Omit<Answer, 'body'> & { isKept: boolean }

// A server says the same again and again, but for the second it says it in.
const known = new Map<string, Head>()
const mostKnown = 100
const longestKnown = 2048

function headOf(text: string): Head {
  const before = known.get(text)
  if (before) return before
  const head = parseHead(text)
  if (known.size >= mostKnown) known.clear()
  if (text.length <= longestKnown) known.set(text, head)
  return head
}

const loneBreak = /\r(?!\n)|(?<!\r)\n|\0/
const token = /^[!#$%&'*+.^_`|~0-9a-z-]+$/

function parseHead(text: string): Head {
  if (loneBreak.test(text)) throw unreadable('a line break that is none')
  const [first = '', ...lines] = text.split('\r\n')
  const status = /^HTTP\/(1\.[01]) ([1-9]\d\d)(?: |$)/.exec(first)
  if (!status) throw unreadable('no status line')
  const headers: Record<string, string> = Object.create(null)
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(0, colon)).toLowerCase()
    if (!token.test(name)) throw unreadable('a header without a name')
    const value = line.slice(colon + 1).trim()
    const before = headers[name]
    headers[name] = before === undefined ? value : `${before}, ${value}`
  }
  const said = (headers.connection ?? '').toLowerCase()
  const isKept = status[1] === '1.1' ? !/\bclose\b/.test(said) : /\bkeep-alive\b/.test(said)
  return { status: Number(status[2]), headers: Object.freeze(headers), isKept }
}

function bodyOf({ status, headers }: Answer, keep: (chunk: Buffer) => void): Body {
  const { 'content-length': length, 'transfer-encoding': coding } = headers
  if (status === 204 || status === 304) return { take: (chunk) => chunk }
  if (coding !== undefined) {
    if (length !== undefined) throw unreadable('two lengths of the body')
    if (coding.toLowerCase() !== 'chunked') throw unreadable('a transfer coding that nobody asked for')
    return chunkedBody(keep)
  }
  if (length === undefined) return { take: (chunk) => void keep(chunk), isEndedByClose: true }
  if (!/^\d{1,15}$/.test(length)) throw unreadable('a length that is none')
  return lengthBody(Number(length), keep)
}

function lengthBody(length: number, keep: (chunk: Buffer) => void): Body {
  let left = length
  return {
    take(chunk) {
      const part = chunk.subarray(0, left)
      keep(part)
      left -= part.length
      return left === 0 ? chunk.subarray(part.length) : undefined
    },
  }
}

const longestLine = 1024
// Chunks of a byte or two have no use but to keep us busy.
const sparedFraming = 64 * 1024

/** Lines of sizes and what they announce; the trailer is passed over. */
function chunkedBody(keep: (chunk: Buffer) => void): Body {
  let state: 'size' | 'data' | 'end of data' | 'trailer' = 'size'
  let left = 0
  let trailer = 0
  let framing = 0
  let taken = 0
  let rest: Buffer = nothing

  function onLine(line: string): void {
    if (state === 'end of data') {
      if (line !== '') throw unreadable('a chunk longer than announced')
      state = 'size'
    } else if (state === 'size') {
      const size = /^([0-9a-f]{1,8})[ \t]*(?:;.*)?$/i.exec(line)
      if (!size) throw unreadable('a chunk without a size')
      left = Number.parseInt(size[1] as string, 16)
      framing += line.length + 4
      if (framing > sparedFraming + taken) throw unreadable('more about chunks than in them')
      state = left === 0 ? 'trailer' : 'data'
    } else {
      trailer += line.length
      if (trailer > longestHead) throw unreadable('a trailer without end')
    }
  }

  function takeData(): void {
    const part = rest.subarray(0, left)
    keep(part)
    left -= part.length
    taken += part.length
    rest = rest.subarray(part.length)
    if (left === 0) state = 'end of data'
  }

  return {
    take(chunk) {
      rest = join(rest, chunk)
      for (;;) {
        if (state === 'data') {
          takeData()
          if (left > 0) return undefined
        }
        const end = rest.indexOf('\r\n')
        if (end > longestLine || (end < 0 && rest.length > longestLine))
          throw unreadable('a line without end')
        if (end < 0) return undefined
        const line = rest.toString('latin1', 0, end)
        rest = rest.subarray(end + 2)
        if (state === 'trailer' && line === '') return rest
        onLine(line)
      }
    },
  }
}
