// An SMTP server that takes every message at once and keeps what it needs to tell one from another.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'

export type Taken = { recipient: string; messageId: string }

export type Sink = {
  port: number
  /** Stops listening and drops every connection. */
  close(): Promise<void>
}

/** Each message is reported before it is acknowledged, as a server that keeps its word does. */
export async function openSink(onTaken: (taken: Taken) => void, port = 0): Promise<Sink> {
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    converse(socket, onTaken)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, close: () => close(server, sockets) }
}

async function close(server: Server, sockets: Set<Socket>): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  for (const socket of sockets) socket.destroy()
  await closed
}

function converse(socket: Socket, onTaken: (taken: Taken) => void): void {
  let text = ''
  let searchedTo = 0
  let isData = false
  let recipient = ''

  const takeMessage = (): string | undefined => {
    const end = text.indexOf('\r\n.\r\n', Math.max(0, searchedTo - 4))
    searchedTo = end < 0 ? text.length : 0
    if (end < 0) return undefined
    onTaken({ recipient, messageId: /^message-id: *(\S+)/im.exec(text.slice(0, end))?.[1] ?? '' })
    text = text.slice(end + 5)
    isData = false
    return '250 2.0.0 taken\r\n'
  }

  const takeCommand = (): string | undefined => {
    const end = text.indexOf('\r\n')
    if (end < 0) return undefined
    const command = text.slice(0, end)
    text = text.slice(end + 2)
    const verb = command.slice(0, 4).toUpperCase()
    if (verb === 'RCPT') recipient = /<(.*)>/.exec(command)?.[1]?.toLowerCase() ?? ''
    isData = verb === 'DATA'
    return replies[verb] ?? '250 2.0.0 ok\r\n'
  }

  socket.write('220 sink ESMTP\r\n')
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
    let says = ''
    for (let next = take(); next !== undefined; next = take()) says += next
    if (says !== '') socket.write(says)
    if (says.startsWith('221') || says.includes('\n221')) socket.end()
  })
  const take = () => (isData ? takeMessage() : takeCommand())
}

const replies: Record<string, string> = {
  EHLO: '250-sink\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SIZE 50000000\r\n',
  DATA: '354 go ahead\r\n',
  QUIT: '221 2.0.0 bye\r\n',
}
