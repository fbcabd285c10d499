// The framework alone, answering a small JSON object: what the service's own rates are compared with.
import Fastify from 'fastify'

const app = Fastify()
app.get('/', async () => ({ status: 'ok', answer: 42, list: [1, 2, 3] }))
await app.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${(app.server.address() as { port: number }).port}\n`)
