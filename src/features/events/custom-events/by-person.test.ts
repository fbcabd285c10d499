import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContactRef } from '../../contacts/contacts/queries.ts'
import { byPerson } from './by-person.ts'

const anna: ContactRef = { email: 'anna@example.com' }
const bob: ContactRef = { email: 'bob@example.com' }
const annasNumber: ContactRef = { extId: 'a1' }
const known = [{ id: '7', email: null, ext_id: 'c1', sms: '33612345678' }]

test('people come in one order, however they were given, and the events of each stay as they were', () => {
  const given: [string, ContactRef[]][] = [
    ['1', [annasNumber]],
    ['2', [bob]],
    ['3', [anna, annasNumber]],
    ['4', [anna]],
    ['5', [bob]],
    ['6', [{ sms: '33612345678' }]],
    ['7', [{ extId: 'c1' }]],
    ['8', [{ id: '7' }]],
  ]
  const ordered = (events: typeof given) => byPerson(events, ([, refs]) => refs, known).map(([name]) => name)
  assert.deepEqual(ordered(given), ['1', '3', '4', '2', '5', '6', '7', '8'])
  assert.deepEqual(ordered(given.toReversed()), ['4', '3', '1', '5', '2', '8', '7', '6'])
})
