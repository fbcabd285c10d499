import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bounceEvent, complaintEvent } from './events.ts'

test('what mail says can be kept, whatever it says', () => {
  const at = new Date()
  const verdict = { type: 'hard', class: 'unknown', suppresses: false, countsToLimit: false } as never
  const message = '550 5.1.1 no \ud83d\0'
  const events = [
    bounceEvent({ smtpCode: 550, enhancedCode: '5.1.1', message }, verdict, at),
    complaintEvent('abuse\udc00', at),
  ]
  // As JSON a half of a character is written with its number: the text itself would not show it.
  for (const { data } of events) assert.doesNotMatch(JSON.stringify(data), /\\u(d[89a-f]|0000)/)
})
