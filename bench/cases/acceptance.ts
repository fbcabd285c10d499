// Durable acceptance of a message over HTTP with every gate, against the database's own one-row inserts.
import { compare, type Figure } from '../figure.ts'
import { requestRate } from '../http-load.ts'
import { benchKey, startDatabase, startService } from '../start.ts'
import { insertRate } from './http.ts'

const connections = 64

export async function benchAcceptance(): Promise<Figure[]> {
  const database = await startDatabase()
  // Accepting alone: what is queued here another process would send.
  const service = await startService(database.url, ['--role', 'api'])
  const body = JSON.stringify({
    from: 'Shop <shop@example.com>',
    to: 'anna@example.org',
    subject: 'Your order',
    text: `Dear customer,\n\n${'thank you for your order, which is on its way. '.repeat(40)}\n`,
  })
  const headers = { 'api-key': benchKey, 'content-type': 'application/json' }
  const url = `${service.url}/api/v1/transactional/send`
  try {
    return [
      await compare(
        { name: 'email.send, all gates, 2 kB', anchor: 'durable one-row inserts', wanted: 0.4 },
        () => requestRate({ url, method: 'POST', headers, body, connections }),
        () => insertRate(database.url),
      ),
    ]
  } finally {
    await service.stop()
    await database.stop()
  }
}
