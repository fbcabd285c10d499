// Where the lines of the log go, many in one system call. What cannot be written, because a disk is full, is tried
// again, and holds up neither the service nor its end: the destination of the log's library ends the process over it,
// and tries for ever when the process ends.
import { write, writeSync } from 'node:fs'

export type LogSink = { write(line: string): void; flushLast(): void }

/** A burst of lines shares one system call; a line that comes alone waits a tenth of a second at most. */
const portion = 4_096
const everyMs = 100
/** Of lines that cannot be written; those after them are lost. */
const keptLength = 16 * 1024 * 1024

export function openSink(fd: number): LogSink {
  let lines: string[] = []
  let length = 0
  let underWay = Buffer.alloc(0)
  let isWriting = false
  let isStuck = false

  const takeLines = () => {
    const taken = Buffer.from(lines.join(''))
    lines = []
    length = 0
    return taken
  }
  const flush = () => {
    if (isWriting) return
    if (underWay.length === 0) underWay = takeLines()
    if (underWay.length === 0) return
    isWriting = true
    write(fd, underWay, (error, written) => {
      isWriting = false
      isStuck = error !== null
      if (error?.code === 'EPIPE') underWay = Buffer.alloc(0)
      if (error) return
      underWay = underWay.subarray(written)
      if (underWay.length > 0 || length >= portion) flush()
    })
  }
  setInterval(flush, everyMs).unref()
  return {
    write(line) {
      if (length > keptLength) return
      lines.push(line)
      length += line.length
      if (length >= portion && !isStuck) flush()
    },
    flushLast: () => writeNow(fd, Buffer.concat([isWriting ? Buffer.alloc(0) : underWay, takeLines()])),
  }
}

const mostWaits = 20
const waitMs = 50

/** There is no time later: whoever reads slowly is waited for a little, and what else is in the way is not. */
function writeNow(fd: number, given: Buffer): void {
  let [rest, waits] = [given, 0]
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || ++waits > mostWaits) return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs)
    }
  }
}
