// Messages of 2 kB over the relay, each committed before its 250, against the relay library that keeps nothing and,
// where it is installed, against Postfix, which keeps them in its queue.
import { compare, type Figure } from '../figure.ts'
import { loopRate } from '../measure.ts'
import { startPostfix } from '../postfix.ts'
import { openLine, submit } from '../relay-load.ts'
import { benchKey, firstLine, startChild, startDatabase, startService, stopChild } from '../start.ts'

const connections = 20
const body = `${'x'.repeat(76)}\r\n`.repeat(26)

async function messageRate(port: number, password?: string): Promise<number> {
  const lines = await Promise.all(Array.from({ length: connections }, () => openLine(port, password)))
  try {
    return await loopRate(connections, async (loop) => {
      const line = lines[loop]
      if (line) await submit(line, body)
    })
  } finally {
    for (const { socket } of lines) socket.destroy()
  }
}

export async function benchRelay(): Promise<Figure[]> {
  const database = await startDatabase()
  const service = await startService(database.url, ['--role', 'smtp'])
  const relay = () => messageRate(service.smtpPort, benchKey)
  try {
    return [await againstLibrary(relay), ...(await againstPostfix(relay))]
  } finally {
    await service.stop()
    await database.stop()
  }
}

const name = 'relay, 2 kB, TLS, all gates'

async function againstLibrary(relay: () => Promise<number>): Promise<Figure> {
  const bare = startChild('bare-relay')
  const port = Number(await firstLine(bare))
  const anchor = 'the library alone, discarding'
  try {
    return await compare({ name, anchor, wanted: 0.4 }, relay, () => messageRate(port, benchKey))
  } finally {
    await stopChild(bare)
  }
}

async function againstPostfix(relay: () => Promise<number>): Promise<Figure[]> {
  const postfix = await startPostfix()
  if (!postfix) return []
  const anchor = 'Postfix, plain, queue on disk'
  try {
    return [await compare({ name, anchor, wanted: 2 }, relay, () => messageRate(postfix.port))]
  } finally {
    await postfix.stop()
  }
}
