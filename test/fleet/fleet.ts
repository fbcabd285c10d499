// Two APIs, two workers and a relay on one database, each a process that can be killed and started again.
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Db } from '../../src/kernel/db.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { openPools } from '../../src/main/wire.ts'
import { type Place, type Process, startService } from '../faults/service.ts'
import { makeEmptyDatabase } from '../processes/empty-database.ts'
import { sparePort } from '../spare-port.ts'

export type Kind = 'api' | 'worker' | 'smtp'

/** A place in the fleet; who sits there changes with every kill. */
export type Seat = {
  kind: Kind
  port: number
  kills: number
  freezes: number
  process(): Process
  start(): Promise<void>
  /** SIGKILL, and a new one at once. */
  killAndStart(): Promise<void>
  /** SIGSTOP, and SIGCONT when the time is over; whoever was killed meanwhile stays dead. */
  freeze(ms: number): Promise<void>
}

export type Fleet = { databaseUrl: string; db: Db; apis: Seat[]; workers: Seat[]; relay: Seat; seats: Seat[] }

export async function makeFleet(sinkPort: number): Promise<Fleet> {
  const databaseUrl = await makeEmptyDatabase()
  const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-fleet-'))
  const shared = {
    POSTHORN_DATA_DIR: dataDir,
    POSTHORN_SECRET_KEY: randomBytes(32).toString('hex'),
    POSTHORN_BASE_URL: 'http://mail.example.com',
    POSTHORN_WEBHOOK_ALLOW_PRIVATE: 'true',
    POSTHORN_LEASE_SECONDS: '6',
    POSTHORN_RATE_LIMIT_FACTOR: '1',
  }
  const seat = async (kind: Kind): Promise<Seat> => {
    const port = await sparePort()
    const env = { ...shared, ...(kind === 'smtp' && { POSTHORN_SMTP_PORT: String(port) }) }
    return seatOf(kind, { port, databaseUrl, sinkPort, env, role: kind })
  }
  const apis = [await seat('api'), await seat('api')]
  const workers = [await seat('worker'), await seat('worker')]
  const relay = await seat('smtp')
  const { db, close } = openPools({ url: databaseUrl, log: silentLog, strict: true })
  after(async () => {
    await close()
    await rm(dataDir, { recursive: true, force: true })
  })
  return { databaseUrl, db, apis, workers, relay, seats: [...apis, ...workers, relay] }
}

function seatOf(kind: Kind, place: Place): Seat {
  let running: Process | undefined
  const seat: Seat = {
    kind,
    port: place.port,
    kills: 0,
    freezes: 0,
    process() {
      if (!running) throw new Error(`no ${kind} has been started`)
      return running
    },
    async start() {
      running = await startService(place)
    },
    async killAndStart() {
      seat.kills++
      await seat.process().kill()
      await seat.start()
    },
    async freeze(ms) {
      seat.freezes++
      const frozen = seat.process()
      frozen.signal('SIGSTOP')
      await pause(ms)
      frozen.signal('SIGCONT')
    },
  }
  return seat
}

/** The ports that a process listens on, as the kernel knows them. */
export async function listeningPorts(pid: number): Promise<number[]> {
  const descriptors = await readdir(`/proc/${pid}/fd`)
  const links = await Promise.all(descriptors.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')))
  const inodes = new Set(links.map((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1]))
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8').catch(() => '')),
  )
  const listening = '0A'
  return tables
    .flatMap((table) => table.trim().split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === listening && inodes.has(fields[9] ?? ''))
    .map((fields) => Number.parseInt(fields[1]?.split(':')[1] ?? '', 16))
}
