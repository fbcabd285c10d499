// One request again and again over connections that are kept open, by bare sockets: whoever loads shares the machine
// with what is measured, and a client that does more takes it away.
import { connect } from 'node:net'
import { loopRate } from './measure.ts'

export type Load = {
  url: string
  method?: 'GET' | 'POST' | 'PUT'
  headers?: Record<string, string>
  body?: string
  connections: number
}

/** Requests per second; any answer other than 2xx spoils the figure and is an error. */
export async function requestRate(load: Load): Promise<number> {
  const { hostname, port } = new URL(load.url)
  const request = requestOf(load)
  const lines = await Promise.all(
    Array.from({ length: load.connections }, () => openLine(hostname, Number(port))),
  )
  try {
    return await loopRate(load.connections, async (loop) => lines[loop]?.ask(request))
  } finally {
    for (const { close } of lines) close()
  }
}

function requestOf({ url, method = 'GET', headers = {}, body = '' }: Load): Buffer {
  const { host, pathname, search } = new URL(url)
  const all = { host, ...headers, ...(body !== '' && { 'content-length': Buffer.byteLength(body) }) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`${method} ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
}

async function openLine(host: string, port: number) {
  const socket = connect({ host, port, noDelay: true })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  let [head, missing] = ['', 0]
  let settle = { resolve: () => {}, reject: (_: Error) => {} }
  socket.on('error', (error) => settle.reject(error))
  socket.on('close', () => settle.reject(new Error('the connection was closed')))
  socket.on('data', (chunk: Buffer) => {
    if (missing > 0) missing -= chunk.length
    else {
      head += chunk.toString('latin1')
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      if (!/^HTTP\/1\.1 2/.test(head)) return settle.reject(new Error(head))
      missing = Number(/content-length: (\d+)/i.exec(head)?.[1]) - (head.length - end - 4)
      head = ''
    }
    if (missing === 0) settle.resolve()
    else if (!(missing > 0)) settle.reject(new Error('an answer of unknown length'))
  })
  return {
    ask: (request: Buffer) =>
      new Promise<void>((resolve, reject) => {
        settle = { resolve, reject }
        socket.write(request)
      }),
    close: () => socket.destroy(),
  }
}
