import pg from 'pg'
import { compare, type Figure } from '../figure.ts'
import { requestRate } from '../http-load.ts'
import { loopRate } from '../measure.ts'
import { benchKey, startBareServer, startDatabase, startService } from '../start.ts'

const connections = 64
const paths = ['/api/v1/capabilities', '/api/v1/settings'] as const

export async function benchHttp(): Promise<Figure[]> {
  const database = await startDatabase()
  const service = await startService(database.url)
  const headers = { 'api-key': benchKey, 'content-type': 'application/json' }
  const bare = await startBareServer(await documentsOf(service.url, headers))
  const framework = (path: string) => () => requestRate({ url: bare.url + path, connections })
  const call = (path: string) => () => requestRate({ url: service.url + path, headers, connections })
  const change = () =>
    requestRate({
      url: `${service.url}/api/v1/settings`,
      method: 'PUT',
      body: '{"click_tracking":true}',
      headers,
      connections,
    })
  const alone = 'framework alone, same JSON'
  try {
    return [
      await compare(
        { name: 'capabilities.get', anchor: alone, wanted: 0.6 },
        call(paths[0]),
        framework(paths[0]),
      ),
      await compare(
        { name: 'settings.get, all gates', anchor: alone, wanted: 0.25 },
        call(paths[1]),
        framework(paths[1]),
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

/** The very documents that the service answers, so that both sides write the same octets. */
async function documentsOf(url: string, headers: Record<string, string>): Promise<Record<string, unknown>> {
  const entries = paths.map(async (path) => [path, await (await fetch(url + path, { headers })).json()])
  return Object.fromEntries(await Promise.all(entries))
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
