// The delivery engine alone, from a full queue to an SMTP server: engine.ts DATABASE_URL SMTP_PORT COUNT [PEM].
// Prints a line of JSON after every few thousand messages: how many, how fast, the memory of this process.
import { createPrivateKey } from 'node:crypto'
import { openSmtpTransport } from '../../src/adapters/smtp-transport/smtp-transport.ts'
import { captureTransport } from '../../src/features/messages/capture.ts'
import { startDelivery } from '../../src/features/messages/deliver.ts'
import { silentLog } from '../../src/kernel/log.ts'
import type { Transport } from '../../src/kernel/ports.ts'
import { openPools } from '../../src/main/wire.ts'

const [url = '', port = '', count = '0', pem = ''] = process.argv.slice(2)
const every = 10_000
const pools = openPools({ url, log: silentLog, strict: false })
const now = () => new Date()
const upstream = openSmtpTransport({ url: `smtp://127.0.0.1:${port}?connections=20&messages=100000` })
const keys = pem === '' ? [] : [{ ...{ domain: 'example.com', selector: 's1' }, ...rsa(pem) }]

const warmUp = 1_000
let started = 0
let sent = 0
let finished = () => {}
const done = new Promise<void>((resolve) => {
  finished = resolve
})

const transport: Transport = {
  ...upstream,
  async send(handover) {
    const outcome = await upstream.send(handover)
    if (outcome.kind !== 'accepted') throw new Error(`not accepted: ${JSON.stringify(outcome)}`)
    sent++
    if (sent === warmUp) started = performance.now()
    if (sent % every === 0 || sent === Number(count)) report()
    if (sent === Number(count)) finished()
    return outcome
  },
}

const engine = startDelivery({
  db: pools.db,
  log: silentLog,
  now,
  transport,
  capture: captureTransport(pools.db, now),
  retryFactor: 1,
  leaseSeconds: 180,
  findDkimKeys: async () => keys,
  track: async (_, html) => html,
})
await done
await engine.stop()
await upstream.close()
await pools.close()

function rsa(text: string) {
  return { privateKey: createPrivateKey(text), algorithm: 'rsa-sha256' as const }
}

function report(): void {
  const seconds = (performance.now() - started) / 1000
  process.stdout.write(
    `${JSON.stringify({ sent, rate: (sent - warmUp) / seconds, rss: process.memoryUsage.rss() })}\n`,
  )
}
