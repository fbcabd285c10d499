import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { outageHook } from './log.ts'
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
