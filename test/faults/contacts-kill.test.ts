// The worker is killed again and again in the midst of an import, and of an export: every row counts once all the same.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { makeApp } from '../app.ts'
import { query } from '../processes/empty-database.ts'
import { until } from '../until.ts'
import { randomFrom, seed } from './random.ts'
import { kill, startWorker } from './worker.ts'

const count = 12_000
const kills = 3
const app = await makeApp()
const random = randomFrom(seed)
const ask = async (text: string) => (await query(app.databaseUrl, text))[0]

/** Works the process off under kills; gives how many of them met it unfinished. */
async function workUnderKills(processId: number, chunks: number): Promise<number> {
  let met = 0
  const reached = async () =>
    (await ask(`select next_chunk, status from processes where id = ${processId}`)) as {
      next_chunk: number
      status: string
    }
  for (let turn = 1; turn <= kills; turn++) {
    const worker = await startWorker('contact-worker.ts', app.databaseUrl)
    const from = Math.floor((chunks * turn) / (kills + 2))
    await until(async () => (await reached()).next_chunk >= from, `chunk ${from}`, 60_000)
    await pause(random() * 100)
    await kill(worker)
    if ((await reached()).status === 'processing') met++
  }
  const worker = await startWorker('contact-worker.ts', app.databaseUrl)
  await until(async () => (await reached()).status === 'completed', 'the end', 60_000)
  await kill(worker)
  return met
}

// Of each thousand one is no address, and one is the one before it again.
const lines = Array.from({ length: count }, (_, i) => {
  if (i % 1_000 === 500) return 'nobody;Bad'
  return `p${i % 1_000 === 501 ? i - 2 : i}@example.com;Name ${i}`
})
const [faulty, updated] = [count / 1_000, count / 1_000]
const created = count - faulty - updated

test(`an import of ${count} rows, killed ${kills} times, has every good row exactly once`, async (t) => {
  t.diagnostic(`POSTHORN_SEED=${seed}`)
  const { body: list } = await app.call('POST', '/v3/contacts/lists', { body: { name: 'All' } })
  const fileBody = `EMAIL;FIRSTNAME\n${lines.join('\n')}`
  const asked = await app.call('POST', '/v3/contacts/import', { body: { fileBody, listIds: [list.id] } })
  assert.equal(asked.status, 202, asked.text)
  const met = await workUnderKills(asked.body.processId, count / 2_000)
  t.diagnostic(`${met} kills met it`)
  assert.ok(met >= 2, `only ${met} kills met the import`)
  const { body } = await app.call('GET', `/v3/processes/${asked.body.processId}`)
  const told = body.info.import
  assert.deepEqual([told.total, told.created, told.updated, told.faulty], [count, created, updated, faulty])
  const found = await ask(`
    select (select count(*)::int from contacts) as contacts,
           (select count(distinct email)::int from contacts) as emails,
           (select count(*)::int from list_members) as members,
           (select contacts::int from contact_counts where list_id = 0) as kept,
           (select contacts::int from contact_counts where list_id = ${list.id}) as kept_of_list,
           (select count(*)::int from process_chunks) as left`)
  const all = { contacts: created, emails: created, members: created, kept: created, kept_of_list: created }
  assert.deepEqual(found, { ...all, left: 0 })
})

test(`an export of all of them, killed ${kills} times, is a whole file with everybody once`, async (t) => {
  const body = { customContactFilter: { actionForContacts: 'allContacts' }, exportAttributes: ['EMAIL'] }
  const asked = await app.call('POST', '/v3/contacts/export', { body })
  const met = await workUnderKills(asked.body.processId, Math.ceil(created / 1_000))
  t.diagnostic(`${met} kills met it`)
  const { body: done } = await app.call('GET', `/v3/processes/${asked.body.processId}`)
  const { text } = await app.call('GET', new URL(done.export_url).pathname, { key: null })
  const emails = text.trimEnd().split('\r\n').slice(1)
  assert.deepEqual([emails.length, new Set(emails).size, done.info.export.total], [created, created, created])
})
