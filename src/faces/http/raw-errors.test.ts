import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { answerBrokenRequest } from './raw-errors.ts'

test('a broken request is answered, and its connection ends also when the client keeps its side open', async (t) => {
  const server = createServer().on('clientError', answerBrokenRequest as never)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
  t.after(() => {
    client.destroy()
    server.close()
  })
  const [met] = (await once(server, 'connection')) as [Socket]
  const closed = once(met, 'close', { signal: AbortSignal.timeout(10_000) })
  client.write('no HTTP at all\r\n\r\n')
  let answer = ''
  client.on('data', (chunk) => {
    answer += chunk
  })
  await once(client, 'end')
  assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n.*The request is not valid HTTP\./s)
  assert.equal(client.writable, true)
  await closed
})
