import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../kernel/log.ts'
import type { Dns } from '../../kernel/ports.ts'
import { lookAtDomain } from './look-at-domain.ts'
import { withinLook } from './within-look.ts'

const never = () => new Promise<never>(() => {})
const silent: Dns = { mx: never, txt: never, cname: never, addresses: never, exists: never }
const secretKeys = undefined as never

test('a look ends after fifteen seconds; what was answered by then counts, the rest is unreadable', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const dns: Dns = {
    ...silent,
    txt: (name) => (name === 'late.example' ? Promise.resolve(['v=spf1 include:a.example ~all']) : never()),
  }
  const subject = { domain: 'late.example', token: 'x=y', upstream: null, keys: [] }
  const needs = { dns, log: silentLog, spf: { include: ['a.example'], ip: [] }, secretKeys }
  const looked = lookAtDomain(needs, subject, new Date())
  let isDone = false
  void looked.then(() => {
    isDone = true
  })
  await new Promise(setImmediate)
  t.mock.timers.tick(14_900)
  await new Promise(setImmediate)
  assert.equal(isDone, false)
  t.mock.timers.tick(200)
  const { readings } = await looked
  const states = [...readings].map(([key, { state, found }]) => [key.split(' ')[0], state, found.length])
  assert.deepEqual(states, [
    ['spf', 'unreadable', 1],
    ['dmarc', 'unreadable', 0],
    ['verification', 'unreadable', 0],
  ])
})

test('nothing more is asked when the time is over', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const asked: string[] = []
  const txt = async (name: string) => {
    asked.push(name)
    return ['text']
  }
  await withinLook({ ...silent, txt }, async (dns) => {
    assert.deepEqual(await dns.txt('a.example'), ['text'])
    t.mock.timers.tick(15_000)
    assert.equal(await dns.txt('b.example'), 'unreadable')
  })
  assert.deepEqual(asked, ['a.example'])
})
