// The watching of mailboxes alone, until it is stopped: mailbox-watcher.ts DATABASE_URL SECRET_KEY.
import { startWatching } from '../../src/features/outreach/watching/watch-mailboxes.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { readConfig } from '../../src/main/config.ts'
import { keepHeapSmall } from '../../src/main/heap.ts'
import { mailboxNeeds } from '../../src/main/outreach.ts'
import { openPools } from '../../src/main/wire.ts'

const [url = '', secretKey = ''] = process.argv.slice(2)
keepHeapSmall()
const env = { DATABASE_URL: url, POSTHORN_SECRET_KEY: secretKey, POSTHORN_OUTREACH_ALLOW_PRIVATE: 'true' }
const pools = openPools({ url, log: silentLog, strict: false })
const now = () => new Date()
const watching = startWatching({ db: pools.db, log: silentLog, now, ...mailboxNeeds(readConfig(env)) })
process.once('SIGTERM', async () => {
  await watching.stop()
  await pools.close()
})
process.stdout.write('started\n')
