import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMetrics } from './metrics.ts'

test('a figure that cannot be read, or not in time, is not shown: neither as it was nor as 0', async () => {
  const metrics = openMetrics()
  let read = async () => 7
  metrics.gauge({ name: 'plain', help: 'x', read: () => read() })
  metrics.gauge({ name: 'labelled', help: 'x', labels: [{ of: 'a' }], read: () => read() })
  const shown = async () =>
    (await metrics.text()).split('\n').filter((line) => /^(plain|labelled)/.test(line))
  assert.deepEqual(await shown(), ['plain 7', 'labelled{of="a"} 7'])
  read = async () => {
    throw new Error('planted')
  }
  assert.deepEqual(await shown(), [])
  read = async () => 8
  assert.deepEqual(await shown(), ['plain 8', 'labelled{of="a"} 8'])
  read = () => new Promise(() => {})
  assert.deepEqual(await shown(), [])
})
