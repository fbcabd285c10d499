// The calls of webhooks alone, on the database that is named, until the process is killed.
import { silentLog } from '../../src/kernel/log.ts'
import { readConfig } from '../../src/main/config.ts'
import { openWebhooks } from '../../src/main/webhooks.ts'
import { openPools } from '../../src/main/wire.ts'

const pools = openPools({ url: process.argv[2] ?? '', log: silentLog, strict: true })
openWebhooks({
  config: readConfig(process.env),
  pools,
  log: silentLog,
  now: () => new Date(),
  baseUrl: 'http://test',
})
process.stdout.write('ready\n')
