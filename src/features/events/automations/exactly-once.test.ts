import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { until } from '../../../../test/until.ts'
import { int, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { onEvent, openRunning, step } from '../fixtures/running.ts'
import { runPortion } from './run-steps.ts'

const { app, api, declare, happened, needs, now, pass, subjects } = await openRunning()
const { db } = app.pools

describe('several processes and kills', () => {
  test('send each step exactly once', async () => {
    const { accountId, key } = await app.makeAccount()
    await declare(key, onEvent('a', step(0, 'One'), step(1, 'Two')))
    const events = Array.from({ length: 150 }, (_, i) => ({
      event_name: 'a',
      identifiers: { email_id: `p${i}@example.com` },
    }))
    assert.equal((await api('POST', '/v3/events/batch', key, events)).status, 202)
    for (const minutes of [0, 1]) {
      await Promise.all([pass(0), pass(0), pass(minutes)])
      await pass(0)
    }
    const Count = row<{ subject: string; sent: number; people: number }>({
      subject: text,
      sent: int,
      people: int,
    })
    const counts = await db.many(
      Count,
      sql`
      select subject, count(*)::int as sent, count(distinct recipient)::int as people
        from messages
       where account_id = ${accountId}
       group by subject
       order by subject`,
    )
    assert.deepEqual(counts, [
      { subject: 'One', sent: 150, people: 150 },
      { subject: 'Two', sent: 150, people: 150 },
    ])
  })

  test('a transaction that does not come to its end has sent nothing and lost nothing', async () => {
    const { key } = await app.makeAccount()
    await declare(key, onEvent('a', step(0, 'One')))
    await happened(key, 'a', 'anna@example.com')
    const killed = { ...needs, db: { ...db, transaction: killedBeforeCommit } as typeof db }
    await assert.rejects(runPortion(killed), /killed/)
    assert.deepEqual(await subjects(key, 'anna@example.com'), [])
    await pass(0)
    await pass(0)
    assert.deepEqual(await subjects(key, 'anna@example.com'), ['One'])
  })

  test('a process killed at its commit has sent nothing and lost nothing', async () => {
    const { key } = await app.makeAccount()
    await declare(key, onEvent('a', step(0, 'One')))
    await happened(key, 'a', 'anna@example.com')
    const script = fileURLToPath(new URL('../fixtures/killed.ts', import.meta.url))
    const arguments_ = ['--import', 'tsx', script, app.databaseUrl, now().toISOString()]
    const child = spawn(process.execPath, arguments_, { stdio: 'inherit' })
    const [, signal] = await once(child, 'exit')
    assert.equal(signal, 'SIGKILL')
    assert.deepEqual(await subjects(key, 'anna@example.com'), [])
    await until(async () => {
      await pass(0)
      return (await subjects(key, 'anna@example.com')).length > 0
    }, 'the server to notice the end of the connection')
    await pass(0)
    assert.deepEqual(await subjects(key, 'anna@example.com'), ['One'])
  })
})

const killedBeforeCommit: typeof db.transaction = (work) =>
  db.transaction(async (tx) => {
    await work(tx)
    throw new Error('killed')
  })
