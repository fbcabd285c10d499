// A pooler such as PgBouncer with one connection to the server, which it gives to whoever has something to say. It
// takes simple statements, one after the other.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { after } from 'node:test'
import pg from 'pg'

export type PoolMode = 'transaction' | 'statement'

type Upstream = { stream: Socket; close(): void }
type Waiting = { client: Socket; said: Buffer }

const frame = (type: string, body: Buffer): Buffer => {
  const head = Buffer.from(`${type}\0\0\0\0`)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

const ready = frame('Z', Buffer.from('I'))
// Taken in, with the number of no process.
const welcome = Buffer.concat([
  frame('R', Buffer.alloc(4)),
  frame('K', Buffer.from([0, 0, 0, 1, 0, 0, 0, 1])),
  ready,
])
const noTransactions = Buffer.concat([
  frame('E', Buffer.from('SERROR\0C08P01\0Mtransaction blocks not allowed in statement pooling mode\0\0')),
  ready,
])

/** The address under which it takes the place of the server. */
export async function poolerOf(databaseUrl: string, mode: PoolMode): Promise<string> {
  const upstream = await logInto(databaseUrl)
  const turn = takingTurns(upstream.stream)
  const server = createServer((client) => {
    client.on('error', () => client.destroy())
    client.once('data', () => {
      client.write(welcome)
      client.on('data', (said) => {
        if (said[0] === 'X'.charCodeAt(0)) client.end()
        else if (mode === 'statement' && said.includes('begin')) client.write(noTransactions)
        else turn({ client, said })
      })
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.close()
    upstream.close()
  })
  const url = new URL(databaseUrl)
  url.port = String((server.address() as AddressInfo).port)
  return url.href
}

/** Logged in by the driver, which then no longer listens. */
async function logInto(databaseUrl: string): Promise<Upstream> {
  const client = new pg.Client({ connectionString: databaseUrl })
  client.on('error', () => {})
  await client.connect()
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
  stream.removeAllListeners('data')
  return { stream, close: () => stream.destroy() }
}

/** Who has begun a transaction keeps the connection until its end; the others wait. */
function takingTurns(stream: Socket): (next: Waiting) => void {
  let owner: Socket | undefined
  let isBusy = false
  const waiting: Waiting[] = []
  const go = () => {
    const next = waiting.findIndex(({ client }) => owner === undefined || owner === client)
    const found = isBusy || next < 0 ? undefined : waiting.splice(next, 1)[0]
    if (!found) return
    owner = found.client
    isBusy = true
    stream.write(found.said)
  }
  stream.on('data', (answer: Buffer) => {
    owner?.write(answer)
    // Each answer ends with the state of the transaction: Z, its length, I for none.
    isBusy = answer.at(-6) !== 'Z'.charCodeAt(0)
    if (!isBusy && answer.at(-1) === 'I'.charCodeAt(0)) owner = undefined
    go()
  })
  return (next) => {
    waiting.push(next)
    go()
  }
}
