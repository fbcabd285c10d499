import assert from 'node:assert/strict'
import { test } from 'node:test'
import { declarationsOnly } from '../../src/main/operations.ts'
import { asked } from './specification.ts'

const operations = declarationsOnly()

// A placeholder's name is the declaration's own business: {id} and {identifier} are the same route.
const plain = (route: string) => route.replace(/\{[^}]*\}/g, '{}')
const route = (operation: { method: string; path: string }) => `${operation.method} ${operation.path}`
const key = (operation: { method: string; path: string }) => plain(route(operation))

const declared = new Map(operations.map((operation) => [key(operation), operation]))

const doubles = (keys: string[]) => keys.filter((each, at) => keys.indexOf(each) !== at)

const none = (found: string[], complaint: string) =>
  assert.ok(found.length === 0, `${complaint}\n  ${found.join('\n  ')}`)

test('the table holds the 118 operations of the specification, each once', () => {
  assert.equal(asked.length, 118)
  none(doubles(asked.map(key)), 'In the table twice:')
})

test('every operation asked for is declared', () => {
  const forgotten = asked.filter((each) => !declared.has(key(each)))
  none(forgotten.map(route), 'Not declared in src/main/operations.ts:')
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
