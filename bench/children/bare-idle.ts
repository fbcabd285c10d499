// As many connections that wait for mail as there are mailboxes, and nothing else: bare-idle.ts PORT PASSWORD COUNT.
import { ImapFlow } from 'imapflow'

const [port = '', pass = '', count = ''] = process.argv.slice(2)
for (let n = 0; n < Number(count); n++) {
  const auth = { user: `owner${n}`, pass }
  const options = { host: '127.0.0.1', port: Number(port), secure: false, auth, disableAutoIdle: true }
  const client = new ImapFlow({ ...options, logger: false })
  await client.connect()
  await client.mailboxOpen('INBOX', { readOnly: true })
  client.idle().catch(() => {})
}
process.stdout.write('started\n')
