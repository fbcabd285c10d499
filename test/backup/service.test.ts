// A backup of a service at work, brought back elsewhere: on another kind of database, after an interruption, and
// at work again.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sendAll } from '../faults/sender.ts'
import { faultKey as key } from '../faults/service.ts'
import { makeTally } from '../faults/tally.ts'
import { makeEmptyDatabase, query } from '../processes/empty-database.ts'
import { linesOf, makePlace, type Place, run, type Service, start } from '../processes/posthorn.ts'
import { until } from '../until.ts'

const settings = {
  POSTHORN_API_KEY: key,
  POSTHORN_RATE_LIMIT_FACTOR: '100000',
  POSTHORN_LOG_LEVEL: 'warn',
  // What was being handed over at the moment of the backup is due again after so long.
  POSTHORN_LEASE_SECONDS: '6',
  POSTHORN_BASE_URL: 'http://mail.example.com',
}
const origin = await makePlace(settings)
const external = await makePlace({ ...settings, DATABASE_URL: await makeEmptyDatabase() })
const last = await makePlace(settings)
const file = join(origin.dataDir, 'backup.tar.gz')
const database = external.env.DATABASE_URL ?? ''
let service: Service
let links: string[] = []
let contactId = 0

async function succeeds(place: Place, ...args: string[]) {
  const { code, out, err } = await run(place, ...args, '--json')
  assert.deepEqual([code, err], [0, ''], args.join(' '))
  return JSON.parse(out)
}

async function change(path: string, body: object) {
  const reply = await service.call('POST', path, { key, body })
  assert.ok(reply.status < 300, `${path}: ${reply.text}`)
  return reply.body
}

const captured = (to: string) =>
  until(async () => {
    const { body } = await service.call('GET', `/api/v1/sandbox/messages?to=${to}`, { key })
    return body.data[0]
  }, `the message to ${to}`)

test('a service with links in mailboxes', async () => {
  service = await start(origin)
  const { id } = await change('/v3/contacts/lists', { name: 'All' })
  const contact = await change('/v3/contacts', { email: 'anna@example.org', listIds: [id] })
  contactId = contact.id
  const html = '<p>Hello <a href="https://shop.example.com/order">look</a></p>'
  const campaign = { name: 'News', subject: 'News', from: 'shop@example.com', html, list_id: id }
  await change('/api/v1/campaigns/send', { ...campaign, confirm: true })
  const mail = await captured('anna@example.org')
  const found = mail.html.matchAll(/http:\/\/mail\.example\.com(\/[a-z]+\/[^"']+)/g)
  links = [...found].map(([, path]: string[]) => path ?? '')
  assert.ok(links.some((path) => path.startsWith('/u/')) && links.some((path) => path.startsWith('/t/')))
  await mkdir(join(origin.dataDir, 'media'), { recursive: true })
  await writeFile(join(origin.dataDir, 'media', 'logo.png'), 'a picture')
})

test('a backup under load is of one moment', async () => {
  const tally = makeTally()
  let isOver = false
  const load = { port: origin.port, tally, prefix: 'l', count: 100_000, loops: 8, until: () => isOver }
  const sending = sendAll(load)
  await until(async () => tally.accepted() > 300, 'some messages')
  const before = tally.accepted()
  const written = await succeeds(origin, 'backup', file)
  assert.deepEqual([written.media, written.secret_key_included, written.rows > before], [1, true, true])
  isOver = true
  await sending
  assert.ok(tally.accepted() > before)
  assert.equal((await service.call('GET', '/readyz')).status, 200)
  assert.deepEqual(await service.end('SIGTERM'), { code: 0, signal: null })

  const interrupted = launchRestore(external)
  await until(async () => (await restoring()) || interrupted.exitCode !== null, 'the restore to be at work')
  interrupted.kill('SIGKILL')
  await once(interrupted, 'exit')
  await until(async () => !(await restoring()), 'the server to see it')
  const tables = `select 1 from pg_class where relnamespace = 'public'::regnamespace`
  assert.deepEqual(await query(database, tables), [])
  // What was being handed over may fall due while it is counted.
  const began = new Date()
  const { rows, waiting } = await succeeds(external, 'restore', file)
  const ended = new Date()
  assert.equal(rows, written.rows)
  const { messages, ...others } = waiting
  assert.deepEqual(others, { sms: 0, answers: 0, campaigns: 0, automations: 0, carts: 0, sequences: 0 })
  const [least, most] = [await dueBy(began), await dueBy(ended)]
  assert.ok(least <= messages && messages <= most, `${messages} of ${least} to ${most}`)
  await isConsistent(before)
})

/** Has begun to change something. */
const restoring = async () =>
  (
    await query(
      database,
      `select 1 from pg_stat_activity
      where datname = current_database() and application_name = 'posthorn-backup' and backend_xid is not null`,
    )
  ).length > 0

async function dueBy(at: Date): Promise<number> {
  const [due] = await query(
    database,
    `select count(*)::int as messages from delivery_queue where due_at <= '${at.toISOString()}'`,
  )
  return due?.messages
}

function launchRestore({ env }: Place): ChildProcess {
  const program = fileURLToPath(new URL('../../bin/posthorn.js', import.meta.url))
  return spawn(process.execPath, [program, 'restore', file], { env, stdio: 'ignore' })
}

/** What one transaction wrote is there as a whole. */
async function isConsistent(atLeast: number): Promise<void> {
  const [found] = await query(
    database,
    `select (select count(*)::int from messages where source = 'api') as messages,
            (select count(*)::int from messages m where source = 'api'
              and not exists (select from message_bodies where message_id = m.id)) as bodiless,
            (select count(*)::int from messages m where status = 'queued'
              and not exists (select from delivery_queue where message_id = m.id)) as forgotten,
            (select count(*)::int from delivery_queue q
              where not exists (select from messages where id = q.message_id and status = 'queued')) as strays,
            (select sum(sent)::int from sending_months) as counted,
            (select count(*)::int from messages) as all`,
  )
  assert.ok(found && found.messages >= atLeast, JSON.stringify(found))
  assert.deepEqual([found.bodiless, found.forgotten, found.strays, found.counted], [0, 0, 0, found.all])
}

test('restored once more, onto the embedded database, it passes its checks', async () => {
  const again = join(external.dataDir, 'again.tar.gz')
  const written = await succeeds(external, 'backup', again)
  const restored = await succeeds(last, 'restore', again)
  assert.deepEqual([restored.rows, restored.media, restored.migrated], [written.rows, 1, []])
  const refused = await run(last, 'restore', again)
  assert.deepEqual([refused.code, refused.out, linesOf(refused.err).length], [1, '', 1])
  assert.match(refused.err, /not empty/)
  assert.equal((await succeeds(last, 'doctor')).ok, true)
  const left = await readdir(last.dataDir)
  assert.deepEqual(
    left.filter((name) => /restor|part/.test(name)),
    [],
  )
})

test('and is at work: what was queued goes out, links of before work, numbers go on', async () => {
  service = await start(last)
  const queued = async () => (await service.call('GET', '/api/v1/health', { key })).body.queue.depth
  await until(async () => (await queued()) === 0, 'what was queued to go out', 60_000)
  await change('/api/v1/transactional/send', {
    from: 'shop@example.com',
    to: 'new@example.org',
    subject: 'New',
    text: 'New',
  })
  assert.equal((await captured('new@example.org')).subject, 'New')
  const contact = await change('/v3/contacts', { email: 'berta@example.org' })
  assert.equal(contact.id, contactId + 1)
  const click = links.find((path) => path.startsWith('/t/')) ?? ''
  const followed = await service.call('GET', click)
  assert.ok(followed.status === 302 || followed.status === 200, `${click}: ${followed.status}`)
  const page = links.find((path) => path.startsWith('/u/')) ?? ''
  assert.equal((await service.call('GET', page)).status, 200)
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const left = await service.call('POST', page, { raw: 'List-Unsubscribe=One-Click', headers })
  assert.equal(left.status, 200)
  const { body } = await service.call('GET', '/api/v1/suppressions?email=anna@example.org', { key })
  assert.equal(body.data[0]?.reason, 'unsubscribe')
  const busy = await run(last, 'restore', file, '--force')
  assert.match(busy.err, /using this database: stop it first/)
  assert.deepEqual(await service.end('SIGTERM'), { code: 0, signal: null })
})
