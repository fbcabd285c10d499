import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { until } from '../../../test/until.ts'
import { silentLog } from '../../kernel/log.ts'
import type { Transport } from '../../kernel/ports.ts'
import { captureTransport } from './capture.ts'
import { type DeliveryNeeds, startDelivery } from './deliver.ts'
import { openPace } from './upstream-rate.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })
const { db } = app.pools
const now = () => new Date()

function slowUpstream(perSecond: number, kind = 'slow') {
  const times: number[] = []
  const recipients: string[] = []
  const transport: Transport = {
    kind,
    signs: true,
    takesMarketing: true,
    concurrency: 10,
    perSecond: async () => perSecond,
    send: async ({ recipient }) => {
      times.push(performance.now())
      recipients.push(recipient)
      return { kind: 'accepted', upstreamId: null, response: 'ok' }
    },
    verify: async () => {},
    close: async () => {},
  }
  return { transport, times, recipients }
}

const engineOn = (transport: Transport): DeliveryNeeds => ({
  db,
  log: silentLog,
  now,
  transport,
  capture: captureTransport(db, now),
  retryFactor: 1,
  leaseSeconds: 60,
  findDkimKeys: async () => [],
  trackingOf: () => ({}),
})

const sendAll = (addresses: string[]) =>
  Promise.all(
    addresses.map((to) =>
      app.call('POST', '/api/v1/transactional/send', {
        body: { from: 'shop@example.com', to, subject: 'Hello', text: 'Hi.' },
      }),
    ),
  )

const addresses = (count: number, name: string) =>
  Array.from({ length: count }, (_, i) => `${name}${i}@reader.example`)

function mostInOneSecond(times: number[]): number {
  return Math.max(...times.map((from) => times.filter((time) => time >= from && time < from + 1000).length))
}

/** How long ninety took at thirty a second. */
async function sendNinety(name: string): Promise<number> {
  const { transport, times, recipients } = slowUpstream(30, name)
  const wanted = addresses(90, name)
  await sendAll(wanted)
  const engines = [1, 2, 3].map(() => startDelivery(engineOn(transport)))
  await until(async () => times.length >= wanted.length, 'all to be sent')
  await Promise.all(engines.map((engine) => engine.stop()))
  assert.deepEqual(recipients.toSorted(), wanted.toSorted())
  // Timers are late now and then, so that two slots can come close to each other.
  assert.ok(mostInOneSecond(times) <= 32, `${mostInOneSecond(times)} in a second`)
  const took = (times.at(-1) ?? 0) - (times[0] ?? 0)
  assert.ok(took > 2_700, `took ${took} ms`)
  return took
}

test('three engines together stay under the rate, and use it', async () => {
  const enoughMs = 6_000
  let took = await sendNinety('a')
  // A machine that stands still lets turns pass, but hardly each time.
  for (let tries = 1; tries < 4 && took >= enoughMs; tries++) took = await sendNinety(`a${tries}-`)
  assert.ok(took < enoughMs, `took ${took} ms`)
})

test('an engine stops at once, and what waited for its turn is free for others', async () => {
  const slow = slowUpstream(0.2, 'slower')
  await sendAll(addresses(8, 'b'))
  const engine = startDelivery(engineOn(slow.transport))
  await until(async () => slow.times.length > 0, 'the first to be sent')
  const asked = performance.now()
  await engine.stop()
  assert.ok(performance.now() - asked < 1_000)
  const quick = slowUpstream(1_000, 'quick')
  const other = startDelivery(engineOn(quick.transport))
  await until(async () => quick.times.length + slow.times.length >= 8, 'the others to be sent')
  await other.stop()
  assert.equal(new Set([...slow.recipients, ...quick.recipients]).size, 8)
})

test('no slot is spent on a message that is late, and a rate that cannot be read is the last one', async () => {
  let isDown = false
  const { transport } = slowUpstream(50, 'flaky')
  const perSecond = async () => {
    if (isDown) throw new Error('down')
    return 50
  }
  const pace = openPace({ db, log: silentLog, transport: { ...transport, perSecond } })
  assert.equal(await pace.turn(() => true), 'late')
  assert.equal(await pace.turn(() => false), 'go')
  isDown = true
  assert.equal(await pace.perSecond(), 50)
  assert.equal(await pace.turn(() => false), 'go')
  pace.stop()
  assert.equal(await pace.turn(() => false), 'stopped')
})
