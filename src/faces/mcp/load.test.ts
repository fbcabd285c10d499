import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { Gates } from '../../gates/gates.ts'
import { silentLog } from '../../kernel/log.ts'
import { openMcp } from './mcp.ts'

test('a call is answered also when the library cannot be loaded, and the next one tries again', async (t) => {
  let tries = 0
  const load = async () => {
    tries++
    throw new Error('planted: the files are gone')
  }
  const gates = { log: silentLog } as Gates
  const answer = openMcp({ gates, operations: [], version: '1', baseUrl: 'http://test' }, load)
  const call = { apiKey: 'x', requestId: 'req_1', ip: null }
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  const server = createServer((raw, response) => {
    // As in the server: what is thrown once the response is handed over answers nobody.
    answer({ call, scopes: null, raw, body }, response).catch(() => {})
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  for (const wanted of [1, 2]) {
    const reply = await fetch(url, { method: 'POST', signal: AbortSignal.timeout(5_000) })
    const said = (await reply.json()) as { error: { code: number } }
    assert.deepEqual([reply.status, said.error.code, tries], [500, -32603, wanted])
  }
})
