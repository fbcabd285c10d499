import assert from 'node:assert/strict'
import { test } from 'node:test'
import { declarationsOnly } from '../../src/main/operations.ts'
import { missing, missingAtMost } from './missing.ts'
import { asked } from './specification.ts'

const operations = declarationsOnly()

// A placeholder's name is the declaration's own business: {id} and {identifier} are the same route.
const plain = (route: string) => route.replace(/\{[^}]*\}/g, '{}')
const route = (operation: { method: string; path: string }) => `${operation.method} ${operation.path}`
const key = (operation: { method: string; path: string }) => plain(route(operation))

const declared = new Map(operations.map((operation) => [key(operation), operation]))
const listed = new Set(missing.map(plain))
const wanted = new Set(asked.map(key))

const doubles = (keys: string[]) => keys.filter((each, at) => keys.indexOf(each) !== at)

const none = (found: string[], complaint: string) =>
  assert.ok(found.length === 0, `${complaint}\n  ${found.join('\n  ')}`)

test('the table holds the 118 operations of the specification, each once', () => {
  assert.equal(asked.length, 118)
  none(doubles(asked.map(key)), 'In the table twice:')
})

test('every operation asked for is declared or known to be missing', () => {
  const forgotten = asked.filter((each) => !declared.has(key(each)) && !listed.has(key(each)))
  none(
    forgotten.map(route),
    'Neither declared in src/main/operations.ts nor listed in test/contract/missing.ts:',
  )
})

test('nothing listed as missing is declared', () => {
  const done = missing.filter((each) => declared.has(plain(each)))
  none(done, 'Declared by now; remove from the list in test/contract/missing.ts:')
})

test('the list of missing operations holds only what is asked for, each once', () => {
  const strangers = missing.filter((each) => !wanted.has(plain(each)))
  none(strangers, 'Listed as missing, but the specification does not ask for it:')
  none(doubles(missing.map(plain)), 'Listed as missing twice:')
})

test('the number of missing operations only falls', () => {
  const { length } = missing
  assert.ok(length <= missingAtMost, `${length} operations are missing; at most ${missingAtMost} may be.`)
  assert.equal(length, missingAtMost, `Only ${length} are missing by now; lower missingAtMost to ${length}.`)
})

test('each declared operation has the scope, openness, limit and idempotency asked for', () => {
  const faults = asked.flatMap((each) => {
    const operation = declared.get(key(each))
    if (!operation) return []
    const compared = [
      ['scope', operation.scope, each.scope],
      ['public', operation.public, each.public ?? false],
      ['perMinute', operation.perMinute, each.perMinute],
      ['idempotent', operation.idempotent, each.idempotent ?? false],
    ] as const
    return compared
      .filter(([, is, should]) => is !== should)
      .map(([duty, is, should]) => `${route(each)} (${operation.name}): ${duty} is ${is}, asked is ${should}`)
  })
  none(faults, 'Declared otherwise than asked:')
})
