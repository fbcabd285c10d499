// The whole attack: an account with something of everything is shot at, another one must not notice.
import assert from 'node:assert/strict'
import { after } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { pino } from 'pino'
import { startJobs } from '../../src/kernel/job.ts'
import { operationId } from '../../src/kernel/operation.ts'
import type { Transport } from '../../src/kernel/ports.ts'
import { readConfig } from '../../src/main/config.ts'
import { jobsFor } from '../../src/main/jobs.ts'
import { openUnsubscribeKeys } from '../../src/main/link-keys.ts'
import { type App, makeApp } from '../app.ts'
import { secretKey } from '../contract/contact-examples.ts'
import { workingExampleOf } from '../contract/examples.ts'
import { memoryStorage, servesImage } from '../contract/media-examples.ts'
import { furnish, type Household } from '../tenants/furnish.ts'
import { until } from '../until.ts'
import { type Checksums, checksumsOf } from './checksum.ts'
import { type Dice, diceOf } from './dice.ts'
import { type Gun, openGun } from './gun.ts'
import { faultIn } from './judge.ts'
import { type Patient, patience } from './patient.ts'
import { curlOf, makeShot, octetsOf, type Start } from './shot.ts'

export type Barrage = { seed: number; shots: number; rounds: number }
/** A failure tells the seed and the shot: POSTHORN_SEED makes the same requests again. */
export const seedOr = (usual: number) => Number(process.env.POSTHORN_SEED ?? usual)

export type Damage = { fault: string; at: string }

export type Target = {
  app: App
  /** What the service itself found wrong. */
  logged: string[]
  patient: Patient
  /** One that is shot at, and one that must not notice. */
  mine: Household
  theirs: Household
  closeJobs(): Promise<void>
}

export async function makeTarget(): Promise<Target> {
  const logged: string[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => void logged.push(line) })
  const env = { POSTHORN_SECRET_KEY: secretKey.toString('hex'), POSTHORN_RATE_LIMIT_FACTOR: '1000000' }
  const app = await makeApp({ deliver: true, log, env, fetchClient: servesImage, storage: memoryStorage() })
  const config = readConfig({ DATABASE_URL: app.databaseUrl, ...env })
  const now = () => new Date()
  const jobs = jobsFor({
    transport: {} as Transport,
    log,
    baseUrl: 'http://test',
    unsubscribeKeys: openUnsubscribeKeys(config),
    now,
    wake: () => {},
    files: { fetchFile: () => Promise.reject(new Error('nothing there')), notify: async () => {} },
  })
  const running = startJobs(jobs, { db: app.pools.db, log, now })
  const mine = await furnish(app, app)
  const theirs = await furnish(app, await app.makeAccount())
  return { app, logged, patient: patience(), mine, theirs, closeJobs: () => running.stop() }
}

/** Each round has an account of its own, since bad requests spoil much of what good ones start from. */
export async function fireAll(
  target: Target,
  { seed, shots, rounds }: Barrage,
  afterRound: (round: number) => void = () => {},
): Promise<Damage[]> {
  const { app } = target
  const guns = Array.from({ length: 12 }, () => openGun(Number(new URL(app.url).port)))
  const damage: Damage[] = []
  const perRound = Math.ceil(shots / rounds)
  for (let round = 0; round < rounds; round++) {
    const mine = round === 0 ? target.mine : await furnish(app, await app.makeAccount())
    const starts = await startsOf(app, mine.key)
    const upTo = Math.min(shots, (round + 1) * perRound)
    let next = round * perRound
    const shootOn = async (gun: Gun) => {
      while (next < upTo) await shoot({ ...target, mine }, gun, { seed, number: next++, starts }, damage)
    }
    await Promise.all(guns.map(shootOn))
    afterRound(round)
  }
  for (const gun of guns) gun.close()
  return damage
}

async function startsOf(app: App, key: string): Promise<Start[]> {
  const starts: Start[] = []
  for (const op of app.operations) starts.push({ op, ...(await workingExampleOf(op, app, key)) })
  return starts
}

type Aim = { seed: number; number: number; starts: Start[] }

async function shoot(
  target: Target,
  gun: Gun,
  { seed, number, starts }: Aim,
  damage: Damage[],
): Promise<void> {
  const { app, mine, patient } = target
  const start = starts[number % starts.length] as Start
  const dice = diceOf(seed * 1_000_003 + number)
  const shot = makeShot(start, { dice, known: knownTo(target, dice) }, mine.key)
  const name = operationId(start.op)
  const got = await patient(name, shot, () => gun.fire(octetsOf(shot), shot))
  const fault = faultIn(shot, got)
  if (fault === undefined) return
  damage.push({ fault, at: `${name}, POSTHORN_SEED=${seed}, shot ${number}\n${curlOf(app.url, shot)}` })
}

/** The identifier that a field of this name asks for: of the one account, at times of the other. */
function knownTo({ mine, theirs }: Target, dice: Dice) {
  return (name: string) => {
    const { ids } = dice.chance(0.85) ? mine : theirs
    const plain = name.replaceAll('_', '').toLowerCase()
    const names = Object.keys(ids)
    if (name === 'anything') return theirs.ids[dice.pick(names)]
    const found = names.filter(
      (each) => plain.endsWith(each.toLowerCase()) || each.toLowerCase().endsWith(plain),
    )
    return plain && found.length > 0 ? ids[dice.pick(found)] : undefined
  }
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

export type Memory = { heapMb: number; rssMb: number }

export function memory(): Memory {
  collect()
  const { heapUsed, rss } = process.memoryUsage()
  return { heapMb: heapUsed / 2 ** 20, rssMb: rss / 2 ** 20 }
}

export function assertUnharmed(damage: Damage[], { logged }: Target): void {
  const first = damage.slice(0, 10).map(({ fault, at }) => `${fault}\n${at}`)
  assert.equal(damage.length, 0, `${damage.length} faults:\n${first.join('\n\n')}`)
  assert.deepEqual(logged, [])
}

export const stopAfter = (target: Target) => after(() => target.closeJobs())

/** When nothing of the other account changes by itself any more. */
export async function settled({ app, theirs }: Target): Promise<Checksums> {
  const sums = () => checksumsOf(app.databaseUrl, theirs.accountId)
  let last = await sums()
  return until(
    async () => {
      await new Promise((resolve) => setTimeout(resolve, 3_000))
      const now = await sums()
      const isSame = JSON.stringify(now) === JSON.stringify(last)
      last = now
      return isSame && now
    },
    'the other account to come to rest',
    60_000,
  )
}
