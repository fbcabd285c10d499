import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inTurn, renderTime } from './turns.ts'

function busyFor(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

test('long works that wait together each get a turn of the event loop of their own', async () => {
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await Promise.all(Array.from({ length: 10 }, () => inTurn(() => busyFor(25))))
  isOver = true
  assert.ok(turns >= 9, `${turns} turns`)
})

test('short works do not wait', async () => {
  await inTurn(() => busyFor(25))
  await inTurn(() => undefined)
  let hasTurned = false
  setImmediate(() => {
    hasTurned = true
  })
  for (let i = 0; i < 100; i++) await inTurn(() => undefined)
  assert.equal(hasTurned, false)
})

test('time that is spent is not given again', async () => {
  const time = renderTime()
  time.leftMs = 5
  await inTurn(() => {
    const before = process.cpuUsage()
    while (process.cpuUsage(before).user < 20_000);
  }, time)
  await assert.rejects(
    inTurn(() => undefined, time),
    { name: 'TemplateFault', message: /too long/ },
  )
})
