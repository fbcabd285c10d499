// A campaign from its start to an SMTP server: campaign-engine.ts DATABASE_URL SMTP_PORT COUNT [PEM].
// Freezes, feeds and sends what is in process.
import { createPrivateKey, randomBytes } from 'node:crypto'
import { campaignMail } from '../../src/features/campaigns/sending/campaign-mail.ts'
import { campaignJobs } from '../../src/features/campaigns/sending/jobs.ts'
import { unsubscribeKeysOf } from '../../src/features/contacts/unsubscribe/tokens.ts'
import { captureTransport } from '../../src/features/messages/capture.ts'
import { startDelivery } from '../../src/features/messages/deliver.ts'
import { trackingOf } from '../../src/features/messages/tracking/track-message.ts'
import { startJobs } from '../../src/kernel/job.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { keepHeapSmall } from '../../src/main/heap.ts'
import { openPools, openTrackingKeys } from '../../src/main/wire.ts'
import { openCounted } from './counted.ts'

const [url = '', port = '', count = '0', pem = ''] = process.argv.slice(2)
keepHeapSmall()
const pools = openPools({ url, log: silentLog, strict: false })
const { db } = pools
const now = () => new Date()
const baseUrl = 'https://mail.example.com'
const named = { domain: 'example.com', selector: 's1', algorithm: 'rsa-sha256' as const }
const dkim = pem === '' ? [] : [{ ...named, privateKey: createPrivateKey(pem) }]
const unsubscribe = unsubscribeKeysOf([randomBytes(32)])
const keys = await openTrackingKeys(db)

const { transport, done } = openCounted({ port, count: Number(count) })

const engine = startDelivery({
  db,
  log: silentLog,
  now,
  transport,
  capture: captureTransport(db, now),
  retryFactor: 1,
  leaseSeconds: 180,
  findDkimKeys: async () => dkim,
  trackingOf: (due) => trackingOf({ keys, baseUrl }, due),
  campaigns: campaignMail({ db, now, unsubscribeKeys: async () => unsubscribe, baseUrl }),
})
const jobs = startJobs(campaignJobs({ log: silentLog, now, wake: engine.wake }), { db, log: silentLog, now })
await done
await jobs.stop()
await engine.stop()
await transport.close()
await pools.close()
