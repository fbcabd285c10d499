// Connections to an SMTP server, kept open, each sending one message after another.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as secure } from 'node:tls'

type Line = { ask(text: string | Buffer, wanted: RegExp): Promise<void>; socket: Socket }

function lineOn(socket: Socket): Line {
  let wake: (text: string) => void = () => undefined
  socket.on('data', (chunk: Buffer) => wake(chunk.toString('latin1')))
  async function answered(wanted: RegExp) {
    for (let text = ''; !wanted.test(text); ) {
      text += await new Promise<string>((done) => {
        wake = done
      })
      if (/^[45]\d\d /m.test(text)) throw new Error(text)
    }
  }
  return {
    socket,
    ask(text, wanted) {
      const answer = answered(wanted)
      if (text.length > 0) socket.write(text)
      return answer
    },
  }
}

/** Says hello, turns to TLS where it is offered and logs in where there is a password. */
export async function openLine(port: number, password?: string): Promise<Line> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const plain = lineOn(socket)
  await plain.ask('', /^220 /)
  await plain.ask('EHLO bench\r\n', /^250 /m)
  if (password === undefined) return plain
  await plain.ask('STARTTLS\r\n', /^220 /m)
  socket.removeAllListeners('data')
  const wrapped = secure({ socket, rejectUnauthorized: false })
  await once(wrapped, 'secureConnect')
  const line = lineOn(wrapped)
  await line.ask('EHLO bench\r\n', /^250 /m)
  await line.ask(`AUTH PLAIN ${Buffer.from(`\0apikey\0${password}`).toString('base64')}\r\n`, /^235 /)
  return line
}

let sent = 0

export async function submit({ ask }: Line, body: string): Promise<void> {
  await ask('MAIL FROM:<shop@example.com>\r\nRCPT TO:<anna@example.org>\r\nDATA\r\n', /^354/m)
  const head = `From: shop@example.com\r\nTo: anna@example.org\r\nSubject: Order ${++sent}\r\n`
  await ask(`${head}\r\n${body}\r\n.\r\n`, /^250/m)
}
