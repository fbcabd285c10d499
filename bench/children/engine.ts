// The delivery engine alone, from a full queue to an SMTP server: engine.ts DATABASE_URL SMTP_PORT COUNT [PEM].
import { createPrivateKey } from 'node:crypto'
import { captureTransport } from '../../src/features/messages/capture.ts'
import { startDelivery } from '../../src/features/messages/deliver.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { keepHeapSmall } from '../../src/main/heap.ts'
import { openPools } from '../../src/main/wire.ts'
import { openCounted } from './counted.ts'

const [url = '', port = '', count = '0', pem = ''] = process.argv.slice(2)
keepHeapSmall()
const pools = openPools({ url, log: silentLog, strict: false })
const now = () => new Date()
const keys = pem === '' ? [] : [{ ...{ domain: 'example.com', selector: 's1' }, ...rsa(pem) }]

const { transport, done } = openCounted({ port, count: Number(count) })

const engine = startDelivery({
  db: pools.db,
  log: silentLog,
  now,
  transport,
  capture: captureTransport(pools.db, now),
  retryFactor: 1,
  leaseSeconds: 180,
  findDkimKeys: async () => keys,
  trackingOf: () => ({}),
})
await done
await engine.stop()
await transport.close()
await pools.close()

function rsa(text: string) {
  return { privateKey: createPrivateKey(text), algorithm: 'rsa-sha256' as const }
}
