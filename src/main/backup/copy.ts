// COPY over the hooks that the driver keeps for queries of other makes.
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type pg from 'pg'

/** What the driver shows of its connection to such a query. */
type Wire = {
  stream: Socket
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
  sendCopyFail(reason: string): void
}

const aheadBytes = 1024 * 1024

/** Whole rows of a `copy … to stdout` as the server wrote them, one or many. It waits while nobody reads. */
export function copyOut(client: pg.Client, statement: string): AsyncIterable<Buffer> {
  let wire: Wire | undefined
  let isOver = false
  const rows = new Readable({
    highWaterMark: aheadBytes,
    read: () => wire?.stream.resume(),
    // There is no way out of a COPY but through all of its rows.
    destroy: (error, done) => {
      if (!isOver) wire?.stream.destroy()
      done(error)
    },
  })
  client.query({
    submit(connection: unknown) {
      wire = connection as Wire
      wire.query(statement)
    },
    // The driver uses the memory of the chunk again.
    handleCopyData({ chunk }: { chunk: Buffer }) {
      if (!rows.push(Buffer.from(chunk))) wire?.stream.pause()
    },
    handleCommandComplete() {},
    handleError(error: Error) {
      isOver = true
      wire?.stream.resume()
      rows.destroy(error)
    },
    handleReadyForQuery() {
      isOver = true
      rows.push(null)
    },
  } as pg.Submittable)
  return rows
}

/** Feeds a `copy … from stdin`; gives how many rows there were. */
export function copyIn(client: pg.Client, statement: string, body: AsyncIterable<Buffer>): Promise<number> {
  const failing = new AbortController()
  return new Promise((resolve, reject) => {
    let count = 0
    let fault: unknown
    client.query({
      submit: (connection: unknown) => (connection as Wire).query(statement),
      handleCopyInResponse(wire: Wire) {
        feed(wire, body, failing.signal).catch((error) => {
          fault = error
          wire.sendCopyFail('nothing more to read')
        })
      },
      handleCommandComplete({ text }: { text: string }) {
        count = Number(/\d+$/.exec(text)?.[0])
      },
      handleError(error: Error) {
        reject(fault ?? error)
        failing.abort()
      },
      handleReadyForQuery: () => resolve(count),
    } as pg.Submittable)
  })
}

async function feed(wire: Wire, body: AsyncIterable<Buffer>, failing: AbortSignal): Promise<void> {
  for await (const chunk of body) {
    failing.throwIfAborted()
    wire.sendCopyFromChunk(chunk)
    if (wire.stream.writableNeedDrain) await once(wire.stream, 'drain', { signal: failing })
  }
  wire.endCopyFrom()
}
