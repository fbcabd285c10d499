import assert from 'node:assert/strict'
import { test } from 'node:test'
import { within } from './within.ts'

const late = () => new Error('late')
const never = new Promise<never>(() => {})

test('work that is done in time gives its value, or its own error', async () => {
  assert.equal(await within(1_000, Promise.resolve('done'), late), 'done')
  await assert.rejects(within(1_000, Promise.reject(new Error('own')), late), /own/)
})

test('work that takes too long is given up with the error that was asked for', async () => {
  const started = performance.now()
  await assert.rejects(within(30, never, late), /late/)
  assert.ok(performance.now() - started >= 25)
})

test('an error of work that was given up disturbs nobody', async (t) => {
  const unhandled: unknown[] = []
  const note = (error: unknown) => unhandled.push(error)
  process.on('unhandledRejection', note)
  t.after(() => process.off('unhandledRejection', note))
  let fail = (_error: Error) => {}
  const work = new Promise<never>((_, reject) => {
    fail = reject
  })
  await assert.rejects(within(5, work, late), /late/)
  fail(new Error('afterwards'))
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(unhandled, [])
})

test('no timer is left behind to hold the process', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = timers()
  await within(60_000, Promise.resolve(), late)
  assert.equal(timers(), before)
})
