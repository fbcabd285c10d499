// The jobs of outreach, or the watching of its mailboxes, on the database that is named, until the process is killed.
import { startWatching } from '../../src/features/outreach/watching/watch-mailboxes.ts'
import { openPool } from '../../src/kernel/db.ts'
import { startJobs } from '../../src/kernel/job.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { readConfig } from '../../src/main/config.ts'
import { mailboxNeeds, outreachJobsFor } from '../../src/main/outreach.ts'

const { OUTREACH_DOES, OUTREACH_NOW, ...env } = process.env
const url = process.argv[2] ?? ''
const db = openPool({ url, max: 10, name: 'outreach', durable: true, checkRows: true, onError: () => {} })
const config = readConfig(env)
const startedAt = Date.now()
// A clock that begins where the test says.
const begin = OUTREACH_NOW === undefined ? startedAt : Date.parse(OUTREACH_NOW)
const now = () => new Date(begin + Date.now() - startedAt)
if (OUTREACH_DOES === 'watch') {
  const timings = { tickMs: 100, leaseMs: 1_500, waitMs: 60_000, retryMs: 100 }
  startWatching({ db, log: silentLog, now, ...mailboxNeeds(config), timings })
} else {
  startJobs(outreachJobsFor(config, { log: silentLog, now, baseUrl: 'http://test' }), {
    db,
    log: silentLog,
    now,
  })
}
process.stdout.write('ready\n')
