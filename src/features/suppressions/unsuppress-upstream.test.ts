import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { silentLog } from '../../kernel/log.ts'
import { sql } from '../../kernel/sql.ts'
import { unsuppressUpstream } from './unsuppress-upstream.ts'

const app = await makeApp()
const { db } = app.pools

const suppress = (email: string, key = app.key) =>
  app.call('POST', '/api/v1/suppressions', { key, body: { email } })
const unsuppress = (email: string, key = app.key) =>
  app.call('DELETE', `/api/v1/suppressions/${email}`, { key })
const waiting = () => db.run(sql`select 1 from upstream_unsuppressions`)

/** What the worker does; `meanwhile` happens while the upstream is asked. */
async function work(meanwhile: (email: string) => Promise<unknown> = async () => {}): Promise<string[]> {
  const asked: string[] = []
  const transport = {
    unsuppress: async (email: string) => {
      asked.push(email)
      await meanwhile(email)
    },
  }
  await unsuppressUpstream({ db, log: silentLog, transport })
  return asked
}

test('an address that somebody lifts while the upstream is asked about it is asked about again', async () => {
  const other = await app.makeAccount()
  for (const key of [app.key, other.key]) await suppress('again@example.com', key)
  await unsuppress('again@example.com')
  assert.deepEqual(await work(), [], 'the other account has it')
  await suppress('again@example.com')
  await unsuppress('again@example.com', other.key)
  await unsuppress('again@example.com')
  let isFirst = true
  const asked = await work(async (email) => {
    if (!isFirst) return
    isFirst = false
    await suppress(email)
    await unsuppress(email)
  })
  assert.deepEqual(asked, ['again@example.com', 'again@example.com'])
  assert.equal(await waiting(), 0)
})

test('one that is suppressed anew while another is asked about stays on the upstream’s list', async () => {
  for (const email of ['one@example.com', 'two@example.com']) {
    await suppress(email)
    await unsuppress(email)
  }
  assert.deepEqual(await work(() => suppress('two@example.com')), ['one@example.com'])
  assert.equal(await waiting(), 0)
})
