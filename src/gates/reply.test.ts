import assert from 'node:assert/strict'
import { test } from 'node:test'
import { overtaken } from '../kernel/db.ts'
import { silentLog } from '../kernel/log.ts'
import { asRefusal } from './reply.ts'

test('whoever found others in the way at every try is told to call again; what is a bug stays one', () => {
  const busy = asRefusal(overtaken(), silentLog, {})
  assert.deepEqual([busy.code, busy.declaration.kind], ['database_unavailable', 'unavailable'])
  assert.match(busy.message, /Too many others are changing the same/)
  assert.equal(asRefusal(new Error('a bug'), silentLog, {}).code, 'internal')
})
