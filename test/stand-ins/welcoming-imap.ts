// An IMAP server that lets in whoever knows the password "right" and has no mail. It ends with the process.
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'

let port: Promise<number> | undefined

export function welcomingImap(): Promise<number> {
  port ??= new Promise((resolve) => {
    const server = createServer(welcome).unref()
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
  return port
}

function welcome(socket: Socket): void {
  socket.unref()
  socket.on('error', () => socket.destroy())
  socket.write('* OK [CAPABILITY IMAP4rev1] ready\r\n')
  const lines = createInterface(socket)
  // The reader of lines passes the socket's errors on, as its own.
  lines.on('error', () => {})
  lines.on('line', (line) => {
    const [tag, command = ''] = line.split(' ')
    const isRefused = command.toUpperCase() === 'LOGIN' && !/ "?right"?$/.test(line)
    socket.write(isRefused ? `${tag} NO [AUTHENTICATIONFAILED] wrong password\r\n` : `${tag} OK done\r\n`)
  })
}
