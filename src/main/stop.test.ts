import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../kernel/log.ts'
import { stopInTurn, stopTogether } from './stop.ts'

test('parts that stop together do not wait for a slow one, nor for one that fails', async () => {
  const stopped: string[] = []
  let end = () => {}
  const slow = () =>
    new Promise<void>((resolve) => {
      end = resolve
    })
  const failing = async () => {
    throw new Error('planted')
  }
  const stopping = stopTogether([slow, failing, async () => void stopped.push('delivery')], silentLog)
  const after = stopping.then(() => stopped.push('all'))
  await Promise.resolve()
  assert.deepEqual(stopped, ['delivery'])
  end()
  await after
  assert.deepEqual(stopped, ['delivery', 'all'])
})

test('what was started first is stopped last', async () => {
  const stopped: string[] = []
  const part = (name: string) => async () => void stopped.push(name)
  await stopInTurn([part('database'), part('pools'), part('workers')], silentLog)
  assert.deepEqual(stopped, ['workers', 'pools', 'database'])
})
