import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clocksApart } from './clocks.ts'

const apartBy = (ms: number) => clocksApart(async () => new Date(Date.now() + ms))

test('clocks that are apart are told of, with how far and which way', async () => {
  assert.match((await apartBy(-40_000)) ?? '', /this machine is 40 s ahead of that of the database server$/)
  assert.match((await apartBy(3_600_000)) ?? '', /this machine is 3600 s behind that of the database server$/)
})

test('what an answer needs for its way is no difference', async () => {
  for (const ms of [0, 500, -500]) assert.equal(await apartBy(ms), undefined)
})
