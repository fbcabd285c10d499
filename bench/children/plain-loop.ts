// What a program without a service does: build, sign and send one message after another with nodemailer, over one
// connection that stays open: plain-loop.ts SMTP_PORT COUNT PEM. Prints messages per second.
import { createTransport } from 'nodemailer'

const [port = '', count = '0', privateKey = ''] = process.argv.slice(2)
const transport = createTransport({
  host: '127.0.0.1',
  port: Number(port),
  pool: true,
  maxConnections: 1,
  maxMessages: Number.POSITIVE_INFINITY,
  ignoreTLS: true,
  dkim: { domainName: 'example.com', keySelector: 's1', privateKey },
})
const text = `Dear customer,\n\n${'thank you for your order, which is on its way. '.repeat(40)}\n`

// As long as what is compared with it has.
const warmUp = Number(count) / 2
let started = 0
for (let n = 0; n < Number(count); n++) {
  if (n === warmUp) started = performance.now()
  const message = { from: 'shop@example.com', to: `r${n}@example.org`, subject: 'Your order', text }
  await transport.sendMail(message)
}
process.stdout.write(`${(Number(count) - warmUp) / ((performance.now() - started) / 1000)}\n`)
transport.close()
