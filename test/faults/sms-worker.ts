// The delivery of SMS alone, on the database that is named, until the process is killed.
import { silentLog } from '../../src/kernel/log.ts'
import { readConfig } from '../../src/main/config.ts'
import { openSmsDelivery } from '../../src/main/sms.ts'
import { openPools } from '../../src/main/wire.ts'

const { db } = openPools({ url: process.argv[2] ?? '', log: silentLog, strict: true })
await openSmsDelivery({ config: readConfig(process.env), db, log: silentLog, now: () => new Date() })
process.stdout.write('ready\n')
