// Messages of 2 kB over the relay, each committed before its 250, against the relay library that keeps nothing.
import { compare, type Figure } from '../figure.ts'
import { loopRate } from '../measure.ts'
import { openLine, submit } from '../relay-load.ts'
import { benchKey, firstLine, startChild, startDatabase, startService, stopChild } from '../start.ts'

const connections = 20
const body = `${'x'.repeat(76)}\r\n`.repeat(26)

async function messageRate(port: number): Promise<number> {
  const lines = await Promise.all(Array.from({ length: connections }, () => openLine(port, benchKey)))
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
  const bare = startChild('bare-relay')
  const barePort = Number(await firstLine(bare))
  try {
    return [
      await compare(
        { name: 'relay, 2 kB, TLS, all gates', anchor: 'the library alone, discarding', wanted: 0.4 },
        () => messageRate(service.smtpPort),
        () => messageRate(barePort),
      ),
    ]
  } finally {
    await stopChild(bare)
    await service.stop()
    await database.stop()
  }
}
