import pg from 'pg'
import { compare, type Figure } from '../figure.ts'
import { loopRate, requestRate } from '../measure.ts'
import { benchKey, startBareServer, startDatabase, startService } from '../start.ts'

const connections = 64

export async function benchHttp(): Promise<Figure[]> {
  const database = await startDatabase()
  const service = await startService(database.url)
  const bare = await startBareServer()
  const headers = { 'api-key': benchKey, 'content-type': 'application/json' }
  const framework = () => requestRate({ url: bare.url, connections })
  const call = (path: string) => () => requestRate({ url: service.url + path, headers, connections })
  const change = () =>
    requestRate({
      url: `${service.url}/api/v1/settings`,
      method: 'PUT',
      body: '{"click_tracking":true}',
      headers,
      connections,
    })
  const alone = 'framework alone, JSON reply'
  try {
    return [
      await compare(
        { name: 'capabilities.get', anchor: alone, wanted: 0.6 },
        call('/api/v1/capabilities'),
        framework,
      ),
      await compare(
        { name: 'settings.get, all gates', anchor: alone, wanted: 0.25 },
        call('/api/v1/settings'),
        framework,
      ),
      await compare(
        { name: 'settings.update, all gates', anchor: 'durable one-row inserts', wanted: 0 },
        change,
        () => insertRate(database.url),
      ),
    ]
  } finally {
    await Promise.all([service.stop(), bare.stop()])
    await database.stop()
  }
}

/** The database's own rate of one-row durable inserts from as many clients, in a plain loop. */
export async function insertRate(url: string): Promise<number> {
  const clients = Array.from({ length: connections }, () => new pg.Client({ connectionString: url }))
  await Promise.all(clients.map((client) => client.connect()))
  await clients[0]?.query(
    'create table if not exists bench_rows (id bigserial primary key, body text not null)',
  )
  const statement = {
    name: 'insert',
    text: 'insert into bench_rows (body) values ($1)',
    values: ['x'.repeat(200)],
  }
  const rate = await loopRate(connections, async (loop) => {
    await clients[loop]?.query(statement)
  })
  await Promise.all(clients.map((client) => client.end()))
  return rate
}
