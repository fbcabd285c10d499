// The framework alone, answering the JSON documents it is given: what the service's own rates are compared with.
import Fastify from 'fastify'

const documents = JSON.parse(process.argv[2] ?? '{}') as Record<string, object>
const app = Fastify()
for (const [path, document] of Object.entries(documents)) app.get(path, async () => document)
await app.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${(app.server.address() as { port: number }).port}\n`)
