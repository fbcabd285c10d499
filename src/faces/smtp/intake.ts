// The octets of DATA. Only CR LF ends a line, and only CR LF . CR LF ends the message (RFC 5321 §2.3.8, §4.1.1.4):
// a server that takes less for an end lets a message smuggle in another one.

export type MessageFault = 'bareLineEnd' | 'nul' | 'longLine' | 'noRoom'

/** Where the last octet left us: at the start of a line, within one, after its CR, or within a line of a lone dot. */
type Place = 'start' | 'line' | 'cr' | 'dot' | 'dot cr'

export type Intake = {
  readonly maxBytes: number
  /** Octets of the message so far, without the stuffed dots; what passes maxBytes is counted and dropped. */
  bytes: number
  fault: MessageFault | undefined
  kept: Buffer
  place: Place
  lineBytes: number
  /** Asked before more memory is taken; 0 gives it back. */
  readonly grow: (bytes: number) => boolean
}

const [CR, LF, NUL, DOT] = [13, 10, 0, 46]
const firstRoom = 4_096
// RFC 5321 §4.5.3.1.6, with the CR LF and without a stuffed dot.
const longestLine = 1_000
const nothing = Buffer.alloc(0)

export function newIntake(maxBytes: number, grow: Intake['grow'] = () => true): Intake {
  return { maxBytes, bytes: 0, fault: undefined, kept: nothing, place: 'start', lineBytes: 0, grow }
}

export const isTooLarge = ({ bytes, maxBytes }: Intake) => bytes > maxBytes

export const messageOf = ({ kept, bytes }: Intake) => kept.subarray(0, bytes)

/** Takes what belongs to the message; gives the index behind its end, or -1 while the end has not come. */
export function take(intake: Intake, chunk: Buffer): number {
  let from = 0
  for (let at = 0; at < chunk.length; at += 1) {
    if (intake.place === 'line') {
      const stop = endOfPlain(chunk, at)
      intake.lineBytes += stop - at
      at = stop
      if (at === chunk.length) break
    }
    const octet = chunk[at] as number
    if (intake.place === 'dot cr' && octet === LF) return at + 1
    const dotEnds = intake.place === 'dot' && octet === CR
    if (dotEnds || (intake.place === 'start' && octet === DOT)) {
      keep(intake, chunk, from, at)
      from = at + 1
      intake.place = dotEnds ? 'dot cr' : 'dot'
    } else step(intake, octet)
  }
  keep(intake, chunk, from, chunk.length)
  return -1
}

function endOfPlain(chunk: Buffer, start: number): number {
  let at = start
  for (; at < chunk.length; at += 1) {
    const octet = chunk[at] as number
    if (octet <= CR && (octet === CR || octet === LF || octet === NUL)) break
  }
  return at
}

function step(intake: Intake, octet: number): void {
  const afterCr = intake.place === 'cr' || intake.place === 'dot cr'
  intake.lineBytes += 1
  if (octet === LF && intake.place === 'cr') {
    if (intake.lineBytes > longestLine) intake.fault ??= 'longLine'
    intake.lineBytes = 0
    intake.place = 'start'
    return
  }
  if (afterCr || octet === LF) intake.fault ??= 'bareLineEnd'
  if (octet === NUL) intake.fault ??= 'nul'
  intake.place = octet === CR ? 'cr' : 'line'
}

// Copied into one growing store: a client that sends single octets would otherwise leave millions of small buffers.
function keep(intake: Intake, chunk: Buffer, from: number, to: number): void {
  const start = intake.bytes
  intake.bytes += to - from
  if (intake.bytes > intake.maxBytes || intake.fault !== undefined) {
    drop(intake)
    return
  }
  if (intake.bytes > intake.kept.length) {
    const room = Math.max(intake.bytes, Math.min(intake.maxBytes, intake.kept.length * 2), firstRoom)
    if (!intake.grow(room)) {
      intake.fault = 'noRoom'
      drop(intake)
      return
    }
    const grown = Buffer.allocUnsafe(room)
    intake.kept.copy(grown, 0, 0, start)
    intake.kept = grown
  }
  chunk.copy(intake.kept, start, from, to)
}

function drop(intake: Intake): void {
  if (intake.kept === nothing) return
  intake.kept = nothing
  intake.grow(0)
}
