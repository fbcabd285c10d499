import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openAhead } from './compose-ahead.ts'

type Due = { name: string; bytes: number; isLight: boolean }

const due = (name: string, bytes = 10, isLight = true): Due => ({ name, bytes, isLight })

function composer(options: { most?: number; freshMs?: number; mostBytes?: number } = {}) {
  const composed: string[] = []
  const ahead = openAhead(
    async ({ name, bytes }: Due) => {
      composed.push(name)
      if (name === 'bad') throw new Error('cannot be composed')
      return Buffer.alloc(bytes, name)
    },
    { most: 3, isLight: ({ isLight }) => isLight, freshMs: 60_000, ...options },
  )
  return { ahead, composed }
}

describe('messages are composed ahead', () => {
  it('once, as many as asked for, after one has shown how large they are', async () => {
    const { ahead, composed } = composer()
    const [first, ...next] = ['a', 'b', 'c', 'd', 'e'].map((name) => due(name))
    ahead.start(next)
    assert.deepEqual(composed, ['b'])
    await ahead.take(first as Due)
    ahead.start(next)
    ahead.start(next)
    assert.deepEqual(composed, ['b', 'a', 'c', 'd'])
    assert.equal(String(await ahead.take(next[0] as Due)), 'b'.repeat(10))
    assert.deepEqual(composed, ['b', 'a', 'c', 'd'])
  })

  it('not where they are large together', async () => {
    const { ahead, composed } = composer({ mostBytes: 25 })
    await ahead.take(due('a'))
    ahead.start(['b', 'c', 'd'].map((name) => due(name)))
    assert.deepEqual(composed, ['a', 'b', 'c'])
    await ahead.take(due('large', 30))
    ahead.start([due('e')])
    assert.deepEqual(composed, ['a', 'b', 'c', 'large'])
  })

  it('not where one has files to load', async () => {
    const { ahead, composed } = composer()
    await ahead.take(due('a'))
    ahead.start([due('b', 10, false), due('c')])
    assert.deepEqual(composed, ['a', 'c'])
  })

  it('again where their turn comes late', async () => {
    const { ahead, composed } = composer({ freshMs: 5 })
    const late = due('late')
    ahead.start([late])
    await sleep(20)
    await ahead.take(late)
    assert.deepEqual(composed, ['late', 'late'])
  })

  it('what fails is told to the one who takes it', async () => {
    const { ahead } = composer()
    const bad = due('bad')
    ahead.start([bad])
    await sleep(5)
    await assert.rejects(ahead.take(bad), /cannot be composed/)
  })
})
