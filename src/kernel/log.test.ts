import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { outageHook, serializers } from './log.ts'
import { databaseUnavailable } from './refusals.ts'

test('an outage of the database is one line, whatever fails because of it; other failures are all told', () => {
  const lines: string[] = []
  const log = pino({ hooks: outageHook() }, { write: (line: string) => lines.push(JSON.parse(line).msg) })
  for (let n = 0; n < 5; n++) log.error({ err: databaseUnavailable() }, 'a job failed')
  log.error({ err: new Error('x') }, 'another')
  log.info('plain')
  log.error({ err: databaseUnavailable() }, 'a job failed')
  assert.deepEqual(lines, ['a job failed', 'another', 'plain'])
})

test('what the database shows of a row that it does not take is not in the log; why it does not is', () => {
  const lines: string[] = []
  const log = pino({ serializers }, { write: (line: string) => void lines.push(line) })
  const failed = (message: string, more: object) => Object.assign(new Error(message), more)
  const detail = 'Key (account_id, email)=(1, ann@example.com) already exists.'
  log.error({ err: failed('duplicate key', { code: '23505', detail, constraint: 'contacts_email_idx' }) })
  log.error({ err: failed('deadlock detected', { code: '40P01', detail: 'Process 1 waits for 2.' }) })
  const [duplicate = '', deadlock = ''] = lines
  assert.doesNotMatch(duplicate, /ann@example/)
  assert.match(duplicate, /"constraint":"contacts_email_idx"/)
  assert.match(duplicate, /"stack":"Error: duplicate key/)
  assert.match(deadlock, /Process 1 waits for 2/)
})
