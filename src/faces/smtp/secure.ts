import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Client } from './client.ts'

const handshakeMs = 30_000

/** Wraps the connection into TLS and goes on with the wrapped one; a failed handshake only closes it. */
export function secure(client: Client, goOn: (secured: Socket) => void): void {
  const plain = client.socket
  if (client.over || plain.destroyed) return
  while (plain.read() !== null) {
    // Sent in the clear: forgotten.
  }
  const secured = new TLSSocket(plain, { isServer: true, secureContext: client.relay.secureContext })
  const deadline = setTimeout(() => secured.destroy(), handshakeMs)
  client.upgrading = true
  client.socket = secured
  secured.on('error', () => secured.destroy())
  secured.once('close', () => {
    clearTimeout(deadline)
    plain.destroy()
  })
  secured.once('secure', () => {
    clearTimeout(deadline)
    if (client.over) return
    secured.disableRenegotiation()
    client.upgrading = false
    client.secure = true
    goOn(secured)
  })
}
