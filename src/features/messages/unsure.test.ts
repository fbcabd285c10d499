import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import type { Outcome, Transport } from '../../kernel/ports.ts'
import { int, row } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { deliverThrough } from './fixtures/engine.ts'
import { sendingWith } from './fixtures/sending.ts'
import { nextTry } from './model.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })
const { db } = app.pools
const { send, settled } = sendingWith(app)

const said = { smtpCode: null, enhancedCode: null, message: 'the server closed the connection' }
const lost: Outcome = { kind: 'uncertain', ...said }
const later: Outcome = { kind: 'deferred', fault: 'message', ...said, smtpCode: 451 }
const taken: Outcome = { kind: 'accepted', upstreamId: null, response: '250 ok' }

/** What it says one after the other, to each recipient; the last thing for ever. */
function upstream(script: Outcome[]): Transport & { asked: string[] } {
  const asked: string[] = []
  return {
    kind: 'scripted',
    signs: false,
    takesMarketing: true,
    concurrency: 2,
    asked,
    async send({ recipient }) {
      asked.push(recipient)
      const times = asked.filter((one) => one === recipient).length
      return script[Math.min(times, script.length) - 1] ?? taken
    },
    verify: async () => {},
    close: async () => {},
  }
}

test('a message of which nobody heard five times whether it was taken is not handed over again', async () => {
  const transport = upstream([later, lost, lost, lost, later, lost, lost, taken])
  const stop = deliverThrough({ db, transport, retryFactor: 0.0001 })
  const { body } = await send({ to: 'unsure@example.com' })
  const { last_error, attempts } = await settled(body.id, ['failed', 'sent'])
  assert.deepEqual(
    [last_error?.code, last_error?.message, attempts, transport.asked.length],
    ['outcome_unknown', 'It may have been sent, 5 times at most: the server closed the connection', 7, 7],
  )
  await stop()
  // It says nothing about the address.
  const Count = row<{ n: number }>({ n: int })
  const { n } = await db.one(
    Count,
    sql`
    select count(*)::int as n
      from (select email from soft_bounces where account_id = ${app.accountId}
            union all
            select email from suppressions where account_id = ${app.accountId}) all_of_it`,
  )
  assert.equal(n, 0)
})

test('four times is not too often, and the last of them are hours apart', async () => {
  const transport = upstream([lost, lost, later, lost, lost, taken])
  const stop = deliverThrough({ db, transport, retryFactor: 0.0001 })
  const { body } = await send({ to: 'surer@example.com' })
  const { last_error } = await settled(body.id, ['failed', 'sent'])
  assert.deepEqual([last_error, transport.asked.length], [null, 6])
  await stop()
})

test('after two quick ones, tries of which nobody heard come hours apart', () => {
  const now = new Date()
  const minutes = (unsureTries: number) => {
    const tried = { attempts: unsureTries, triedSince: now, isTransport: false, askedMs: 0, factor: 1 }
    const next = nextTry({ ...tried, unsureTries, now })
    return next && Math.round((next.at.getTime() - now.getTime()) / 60_000)
  }
  const [first = 0, second = 0, third = 0, fourth = 0, fifth] = [1, 2, 3, 4, 5].map(minutes)
  assert.ok(first <= 2 && second <= 6, `${first} and ${second} minutes`)
  assert.ok(third >= 200 && fourth >= 200, `${third} and ${fourth} minutes`)
  assert.equal(fifth, undefined)
})
