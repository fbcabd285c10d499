// Stands between the service and its database, to be cut or to fall silent.

import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'
import { after } from 'node:test'

export type CuttableProxy = { url: string; cut(): void; silence(): void; mend(): void }

export async function proxyTo(databaseUrl: string): Promise<CuttableProxy> {
  const target = new URL(databaseUrl)
  let state: 'open' | 'cut' | 'silent' = 'open'
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    sockets.add(client)
    client.on('error', () => client.destroy())
    if (state === 'cut') return client.destroy()
    const upstream = connect(Number(target.port), target.hostname)
    sockets.add(upstream)
    upstream.on('error', () => client.destroy())
    upstream.on('close', () => client.destroy())
    client.on('close', () => upstream.destroy())
    client.on('data', (chunk) => state === 'open' && upstream.write(chunk))
    upstream.on('data', (chunk) => state === 'open' && client.write(chunk))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const drop = () => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  after(() => {
    drop()
    server.close()
  })
  const url = new URL(databaseUrl)
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    cut() {
      state = 'cut'
      drop()
    },
    silence() {
      state = 'silent'
    },
    mend() {
      state = 'open'
      // What was swallowed is lost for good, so connections begin anew.
      drop()
    },
  }
}
