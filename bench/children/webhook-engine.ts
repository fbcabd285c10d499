// The calls of webhooks alone, until it is stopped: webhook-engine.ts DATABASE_URL SECRET_KEY.
import { silentLog } from '../../src/kernel/log.ts'
import { readConfig } from '../../src/main/config.ts'
import { keepHeapSmall } from '../../src/main/heap.ts'
import { openWebhooks } from '../../src/main/webhooks.ts'
import { openPools } from '../../src/main/wire.ts'

const [url = '', secretKey = ''] = process.argv.slice(2)
keepHeapSmall()
const env = { DATABASE_URL: url, POSTHORN_SECRET_KEY: secretKey, POSTHORN_WEBHOOK_ALLOW_PRIVATE: 'true' }
const pools = openPools({ url, log: silentLog, strict: false })
const webhooks = openWebhooks({
  config: readConfig(env),
  pools,
  log: silentLog,
  now: () => new Date(),
  baseUrl: 'http://test',
})
process.once('SIGTERM', async () => {
  await webhooks.stop()
  await pools.close()
})
process.stdout.write('started\n')
