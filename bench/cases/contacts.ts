// Contacts by the million: pages and look-ups; and an import against what the database itself can do.
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { until } from '../../test/until.ts'
import { compare, type Figure } from '../figure.ts'
import { figureOf, p99Ms, secondDatabase, takeTurns } from '../pair.ts'
import { benchKey, startDatabase, startService } from '../start.ts'
import { onDatabase } from './fill.ts'

const large = Number(process.env.BENCH_CONTACTS ?? 1_000_000)
const small = 10_000

/** All on list 1, a tenth of them from each of ten cities. */
async function fillContacts(url: string, count: number): Promise<void> {
  await onDatabase(url, async (client) => {
    await client.query(`
      insert into contact_attributes (account_id, name, category, type, created_at)
      select accounts.id, a.name, 'normal', a.type, now()
        from accounts, (values ('CITY', 'text'), ('AGE', 'float')) as a (name, type)`)
    await client.query(
      `insert into lists (account_id, name, created_at) select id, 'All', now() from accounts`,
    )
    await client.query(
      `insert into contacts (account_id, email, attributes, created_at, modified_at)
       select a.id, 'r' || n || '@example.org',
              jsonb_build_object('FIRSTNAME', 'Anna', 'LASTNAME', 'N' || n, 'CITY', 'City' || n % 10, 'AGE', n % 90),
              now(), now()
         from accounts a, generate_series(1, $1::int) n`,
      [count],
    )
    await client.query(`
      insert into list_members (account_id, list_id, contact_id, added_at)
      select c.account_id, l.id, c.id, now() from contacts c join lists l on l.account_id = c.account_id`)
    await client.query('vacuum analyze')
    await client.query('checkpoint')
  })
}

const readsPerRound = 200

export async function benchContacts(): Promise<Figure[]> {
  const database = await startDatabase()
  const urls = { many: database.url, few: await secondDatabase(database.url, 'few') }
  const args = ['--role', 'api']
  const services = { many: await startService(urls.many, args), few: await startService(urls.few, args) }
  try {
    await fillContacts(urls.few, small)
    await fillContacts(urls.many, large)
    const segment = { name: 'One city', attribute: 'CITY', operator: 'eq', value: 'City7' }
    for (const { url } of Object.values(services)) await post(`${url}/v3/segments`, segment)
    const pages = {
      'contact.list, first page': '/v3/contacts',
      'contact.get by email': '/v3/contacts/r777%40example.org',
      'contact.get by id': '/v3/contacts/777',
      'first page of a list': '/v3/contacts/lists/1/contacts',
      'first page of a segment': '/v3/segments/1/contacts',
    }
    const figures: Figure[] = []
    for (const [name, path] of Object.entries(pages)) {
      const found = await takeTurns((which) => p99Ms(services[which].url + path, readsPerRound))
      const row = { name: `${name}, p99 at ${large.toLocaleString('en')}, ms`, anchor: 'at 10,000' }
      figures.push(figureOf({ ...row, atMost: path.includes('segments') ? 3 : 1.5 }, found))
    }
    return figures
  } finally {
    await Promise.all([services.many.stop(), services.few.stop()])
    await database.stop()
  }
}

async function post(url: string, body: object): Promise<Record<string, unknown>> {
  const headers = { 'api-key': benchKey, 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as Record<string, unknown>
}

const importRows = 20_000
const attributes = ['FIRSTNAME', 'LASTNAME', 'CITY', 'AGE', 'JOB']

/** What the system has given to the process, in megabytes. */
async function memoryOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024
}

function csvOf(batch: number, rows = importRows): string {
  const line = (n: number) => `b${batch}n${n}@example.org;Anna;N${n};City${n % 10};${n % 90};Job${n % 40}`
  return [`EMAIL;${attributes.join(';')}`, ...Array.from({ length: rows }, (_, n) => line(n))].join('\n')
}

export async function benchImport(): Promise<Figure[]> {
  const database = await startDatabase()
  const service = await startService(database.url, ['--role', 'api,worker'])
  // The server reads it, as another user.
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-import-'))
  await chmod(folder, 0o755)
  const file = join(folder, 'rows.csv')
  let batch = 0
  try {
    for (const name of ['CITY', 'JOB']) await define(service.url, name, 'text')
    await define(service.url, 'AGE', 'float')
    const { id } = await post(`${service.url}/v3/contacts/lists`, { name: 'All', folderId: 0 })
    const measure = () => importSeconds(service.url, csvOf(++batch), Number(id))
    const name = `import of ${importRows.toLocaleString('en')} rows with five attributes, s`
    const anchor = 'COPY and one merge'
    const copied = async () => {
      await writeFile(file, csvOf(++batch), { mode: 0o644 })
      return onDatabase(database.url, (client) => copySeconds(client, file, Number(id)))
    }
    const figure = await compare({ name, anchor, wanted: 0 }, measure, copied)
    const memory = async (rows: number) => {
      for (let i = 0; i < 3; i++) await importSeconds(service.url, csvOf(++batch, rows), Number(id))
      return memoryOf(service.pid)
    }
    const [anchorMeasured, measured] = [await memory(importRows / 20), await memory(importRows)]
    const grown = { measured, anchorMeasured, ratio: measured / anchorMeasured, wanted: 0, atMost: 1.2 }
    return [
      { ...figure, atMost: 2.5 },
      { name: `memory after such imports, MB`, anchor: 'after a twentieth of the rows', ...grown },
    ]
  } finally {
    await rm(folder, { recursive: true })
    await service.stop()
    await database.stop()
  }
}

async function define(url: string, name: string, type: string): Promise<void> {
  const headers = { 'api-key': benchKey, 'content-type': 'application/json' }
  const body = JSON.stringify({ type })
  await fetch(`${url}/v3/contacts/attributes/normal/${name}`, { method: 'POST', headers, body })
}

async function importSeconds(url: string, fileBody: string, listId: number): Promise<number> {
  const started = performance.now()
  const { processId } = await post(`${url}/v3/contacts/import`, { fileBody, listIds: [listId] })
  await until(() => isImported(`${url}/v3/processes/${processId}`), 'the import', 120_000)
  return (performance.now() - started) / 1000
}

type Told = { status: string; info: { import: { created: number; total: number } } }

async function isImported(url: string): Promise<boolean> {
  const response = await fetch(url, { headers: { 'api-key': benchKey } })
  const { status, info } = (await response.json()) as Told
  if (status === 'completed' && info.import.created === info.import.total) return true
  if (status === 'failed' || status === 'completed') throw new Error(`${status}: ${JSON.stringify(info)}`)
  return false
}

/** What the database needs for the same rows when nobody looks at them. */
async function copySeconds(client: pg.Client, file: string, listId: number): Promise<number> {
  const started = performance.now()
  await client.query('begin')
  await client.query(
    `create temp table given (email text, ${attributes.join(' text, ')} text) on commit drop`,
  )
  await client.query(`copy given from '${file}' (format csv, header, delimiter ';')`)
  await client.query(
    `with merged as (
       insert into contacts (account_id, email, attributes, created_at, modified_at)
       select a.id, g.email, jsonb_build_object('FIRSTNAME', g.firstname, 'LASTNAME', g.lastname, 'CITY', g.city,
                                                'AGE', g.age::numeric, 'JOB', g.job), now(), now()
         from given g, (select id from accounts limit 1) a
       on conflict (account_id, email) where email is not null do update
          set attributes = contacts.attributes || excluded.attributes, modified_at = excluded.modified_at
       returning account_id, id)
     insert into list_members (account_id, list_id, contact_id, added_at)
     select account_id, $1, id, now() from merged
     on conflict do nothing`,
    [listId],
  )
  await client.query('commit')
  return (performance.now() - started) / 1000
}
