import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstUuidAt, newUuid, readId, showId } from './id.ts'

test('an identifier is read back from how it is shown', () => {
  const uuid = newUuid()
  const shown = showId('msg', uuid)
  assert.match(shown, /^msg_[0-9a-f]{32}$/)
  assert.equal(readId('msg', shown), uuid)
})

test('what is not an identifier of that kind is none', () => {
  const uuid = newUuid()
  const shown = showId('msg', uuid)
  const wrong = [
    '',
    'msg_',
    uuid,
    shown.slice(0, -1),
    `${shown}0`,
    shown.toUpperCase(),
    `msg_${uuid}`,
    `${shown}\n`,
  ]
  for (const word of wrong) assert.equal(readId('msg', word), undefined, word)
  assert.equal(readId('key', shown), undefined)
  assert.equal(readId('ms', shown), undefined)
})

test('identifiers are unique and in the order of their making', () => {
  const made = Array.from({ length: 5_000 }, newUuid)
  assert.equal(new Set(made).size, made.length)
  assert.deepEqual([...made].sort(), made)
})

test('the first identifier of a moment is below all that are made from then on, and above those before', () => {
  const moment = Date.now()
  const made = newUuid()
  assert.ok(firstUuidAt(moment) <= made)
  assert.ok(firstUuidAt(moment + 1_000) > made)
  assert.equal(firstUuidAt(-5), firstUuidAt(0))
  assert.match(firstUuidAt(Date.UTC(2026, 10, 15)), /^[0-9a-f]{8}-[0-9a-f]{4}-7000-8000-0{12}$/)
})
