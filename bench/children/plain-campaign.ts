// What a program without a service does for a newsletter: render, put tracked links in, build, sign and send one
// message after another with the same libraries: plain-campaign.ts SMTP_PORT COUNT PEM HTML. Prints messages a second.
import { randomBytes } from 'node:crypto'
import { Liquid } from 'liquidjs'
import { createTransport } from 'nodemailer'
import { rewriteHtml } from '../../src/features/messages/tracking/rewrite.ts'
import { clickToken, openToken } from '../../src/features/messages/tracking/tokens.ts'
import { newUuid } from '../../src/kernel/id.ts'

const [port = '', count = '0', privateKey = '', html = ''] = process.argv.slice(2)
const transport = createTransport({
  host: '127.0.0.1',
  port: Number(port),
  pool: true,
  maxConnections: 1,
  maxMessages: Number.POSITIVE_INFINITY,
  ignoreTLS: true,
  dkim: { domainName: 'example.com', keySelector: 's1', privateKey },
})
const current = { id: 1, key: randomBytes(32) }
const keys = { current, all: new Map([[current.id, current.key]]) }
const baseUrl = 'https://mail.example.com'
const liquid = new Liquid()
const template = liquid.parse(html)

// As long as what is compared with it has.
const warmUp = Number(count) / 2
let started = 0
for (let n = 0; n < Number(count); n++) {
  if (n === warmUp) started = performance.now()
  const id = newUuid()
  const contact = {
    EMAIL: `r${n}@example.org`,
    FIRSTNAME: `Ann ${n}`,
    CITY: 'Paris',
    PLAN: 'gold',
    POINTS: n,
  }
  const rendered = await liquid.render(template, { contact, unsubscribe_url: `${baseUrl}/u/${id}` })
  const tracked = rewriteHtml(rendered, {
    pixelUrl: `${baseUrl}/t/${openToken(keys, id)}.gif`,
    click: (url) => `${baseUrl}/t/${clickToken(keys, id, url)}`,
    except: () => false,
  })
  await transport.sendMail({
    from: 'shop@example.com',
    to: contact.EMAIL,
    subject: `News for ${contact.FIRSTNAME}`,
    html: tracked,
  })
}
process.stdout.write(`${(Number(count) - warmUp) / ((performance.now() - started) / 1000)}\n`)
transport.close()
