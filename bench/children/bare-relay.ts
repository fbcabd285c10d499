// The relay library on its own, which takes every message and keeps none; prints its port.
import { once } from 'node:events'
import { SMTPServer } from 'smtp-server'

const server = new SMTPServer({
  disableReverseLookup: true,
  logger: false,
  onAuth: (_auth, _session, done) => done(null, { user: 'x' }),
  onData: (stream, _session, done) => {
    stream.on('end', () => done())
    stream.resume()
  },
})
const listener = server.listen(0, '127.0.0.1')
await once(listener, 'listening')
const address = listener.address()
process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`)
