// The service with a storage that kills the process where it is told to, on the database that is named.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { mediaJob } from '../../src/features/media/clear-files.ts'
import { startJobs } from '../../src/kernel/job.ts'
import { silentLog } from '../../src/kernel/log.ts'
import type { FileStorage } from '../../src/kernel/ports.ts'
import { readConfig } from '../../src/main/config.ts'
import { openMediaStorage } from '../../src/main/media.ts'
import { openPools, openService, openTrackingKeys } from '../../src/main/wire.ts'

const { POSTHORN_DATA_DIR: dataDir = '', KILL_AT, PORT } = process.env
const config = readConfig({ POSTHORN_DATA_DIR: dataDir, POSTHORN_RATE_LIMIT_FACTOR: '100' })
const pools = openPools({ url: process.argv[2] ?? '', log: silentLog, strict: true })
const disk = openMediaStorage(config)

async function dieAt(point: string): Promise<void> {
  if (point !== KILL_AT) return
  process.kill(process.pid, 'SIGKILL')
  await new Promise(() => {})
}

const storage: FileStorage = {
  ...disk,
  write: async (name, content, contentType) => {
    await dieAt('before write')
    if (KILL_AT === 'half written') {
      const place = join(dataDir, 'media', name)
      await mkdir(dirname(place), { recursive: true })
      await writeFile(`${place}.part`, content.subarray(0, 20))
      await dieAt('half written')
    }
    await disk.write(name, content, contentType)
    await dieAt('after write')
  },
  remove: async (name) => {
    await dieAt('before remove')
    await disk.remove(name)
    await dieAt('after remove')
  },
}

const trackingKeys = await openTrackingKeys(pools.db)
const shared = { config, pools, log: silentLog, trackingKeys, storage }
const service = await openService({ ...shared, baseUrl: 'http://test', strict: true })
startJobs([{ ...mediaJob(shared), everySeconds: 0.05 }], {
  db: pools.db,
  log: silentLog,
  now: () => new Date(),
})
await service.http.listen('127.0.0.1', Number(PORT))
process.stdout.write('ready\n')
