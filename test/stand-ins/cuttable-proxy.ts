// Stands between the service and its database, to be cut or to fall silent.

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'
import { after } from 'node:test'

export type CuttableProxy = {
  url: string
  cut(): void
  silence(): void
  mend(): void
  /** The server's next answer brings the end of its connection with it, in one piece. */
  endWithNext(): void
  /** The server ends all connections, as it does when it is shut down, and their clients have heard it. */
  endAll(): Promise<void>
}

/** A message of the protocol: FATAL 57P01. */
function lastWords(): Buffer {
  const fields = Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0')
  const head = Buffer.from('E\0\0\0\0')
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}

export async function proxyTo(databaseUrl: string): Promise<CuttableProxy> {
  const target = new URL(databaseUrl)
  let state: 'open' | 'cut' | 'silent' = 'open'
  const sockets = new Set<Socket>()
  const clients = new Set<Socket>()
  let isEnding = false
  const server = createServer((client) => {
    sockets.add(client)
    clients.add(client)
    client.on('close', () => clients.delete(client))
    client.on('error', () => client.destroy())
    if (state === 'cut') return client.destroy()
    const upstream = connect(Number(target.port), target.hostname)
    sockets.add(upstream)
    upstream.on('error', () => client.destroy())
    upstream.on('close', () => client.destroy())
    client.on('close', () => upstream.destroy())
    client.on('data', (chunk) => state === 'open' && upstream.write(chunk))
    upstream.on('data', (chunk) => {
      if (state !== 'open') return
      client.write(isEnding ? Buffer.concat([chunk, lastWords()]) : chunk)
      if (isEnding) client.end()
      isEnding = false
    })
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
    endWithNext() {
      isEnding = true
    },
    async endAll() {
      const heard = [...clients].map((client) => once(client, 'close'))
      for (const client of clients) client.end(lastWords())
      await Promise.all(heard)
    },
    mend() {
      state = 'open'
      // What was swallowed is lost for good, so connections begin anew.
      drop()
    },
  }
}
