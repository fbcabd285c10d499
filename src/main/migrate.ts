// Plain SQL files, forward only, each applied once. Processes that start together wait for each other.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { patience } from '../kernel/server-settings.ts'
import { connectAlone } from './connect-alone.ts'
import { packageRoot } from './package-root.ts'
import { howToKeepConnections, isShared } from './shared-connections.ts'

// An arbitrary number that stands for "someone is migrating this database".
export const lockKey = 7_046_029_254
const oldestServer = 150_000

export type Migration = { name: string; text: string; checksum: string }

/** What the operator must mend before the database can be used. */
export class MigrationFault extends Error {}

/** `refuse`: for commands that only come by, perhaps while the older version still runs. */
export type OfOlderVersion = 'migrate' | 'refuse'

export async function migrate(
  url: string,
  older: OfOlderVersion = 'migrate',
  tell: Tell = () => {},
): Promise<{ applied: string[]; total: number }> {
  const client = await connectAlone(url, patience)
  try {
    await refuseUnfit(client, url)
    await takeLock(client, tell)
    await client.query(migrationsTable)
    const files = await knownMigrations()
    const pending = pendingOf(files, await appliedIn(client))
    if (older === 'refuse' && pending.length > 0 && pending.length < files.length)
      throw new MigrationFault(`the database is ${ofOlderVersion(pending)}: ${howToMigrate}`)
    for (const migration of pending) await inTransaction(client, () => apply(client, migration))
    return { applied: pending.map(({ name }) => name), total: files.length }
  } finally {
    await client.end()
  }
}

/** Where a line for the operator goes. */
export type Tell = (line: string) => void

const toldAfterMs = 1_000

/** A restore can take long, and who stands still has it as well. */
export async function takeLock(client: pg.Client, tell: Tell): Promise<void> {
  const says = 'waiting for another process, which is migrating or restoring this database'
  const telling = setTimeout(() => tell(says), toldAfterMs)
  try {
    await client.query('select pg_advisory_lock($1)', [lockKey])
  } finally {
    clearTimeout(telling)
  }
}

export const ofOlderVersion = ({ length }: Migration[]) =>
  `of an older version, ${length} ${length === 1 ? 'migration is' : 'migrations are'} missing`

export const howToMigrate = 'stop what runs of that, then start this one or run: posthorn migrate'

/** Of a database that is only looked at; undefined of an empty one. */
export async function missingIn(client: pg.Client): Promise<Migration[] | undefined> {
  const { rows } = await client.query(`select to_regclass('schema_migrations') is not null as is_there`)
  const applied = rows[0].is_there ? await appliedIn(client) : new Map()
  return applied.size === 0 ? undefined : pendingOf(await knownMigrations(), applied)
}

export const migrationsTable = `create table if not exists schema_migrations (
  name text primary key, checksum text not null, applied_at timestamptz not null default now())`

export const knownMigrations = () => readMigrations(join(packageRoot(), 'db', 'migrations'))

export async function refuseUnfit(client: pg.Client, url: string): Promise<void> {
  const { rows } = await client.query(
    `select current_setting('server_version_num')::int as number, current_setting('server_version') as name,
            current_setting('transaction_read_only') = 'on' as only_reads,
            current_setting('server_encoding') as encoding, current_user as user_name, current_schema as schema_name,
            has_schema_privilege(current_schema, 'create') as may_create`,
  )
  const [{ number, name, only_reads, encoding, user_name, schema_name, may_create }] = rows
  if (number < oldestServer)
    throw new MigrationFault(`PostgreSQL ${name} is too old; Posthorn needs 15 or newer`)
  if (encoding !== 'UTF8')
    throw new MigrationFault(
      `the database has the encoding ${encoding}; Posthorn needs UTF8: ` +
        `make one with create database … encoding 'UTF8' template template0`,
    )
  if (only_reads)
    throw new MigrationFault(
      'the database takes no writes: use the primary, or set default_transaction_read_only to off',
    )
  if (schema_name === null)
    throw new MigrationFault(
      'no schema of the database is selected to make tables in: set search_path, as in ' +
        `alter role ${pg.escapeIdentifier(user_name)} set search_path = public`,
    )
  if (!may_create)
    throw new MigrationFault(
      `the user ${user_name} may not make tables in the schema ${schema_name}: ` +
        `grant create on schema ${pg.escapeIdentifier(schema_name)} to ${pg.escapeIdentifier(user_name)}`,
    )
  if (await isShared(client, url)) throw new MigrationFault(howToKeepConnections)
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(folder, name), 'utf8')
      return { name, text, checksum: createHash('sha256').update(text).digest('hex') }
    }),
  )
}

async function appliedIn(client: pg.Client): Promise<Map<string, string>> {
  const { rows } = await client.query('select name, checksum from schema_migrations')
  return new Map(rows.map(({ name, checksum }) => [name, checksum]))
}

export function pendingOf(files: Migration[], applied: Map<string, string>): Migration[] {
  for (const name of applied.keys()) {
    if (files.some((file) => file.name === name)) continue
    throw new MigrationFault(
      `the database has ${name}, which this version does not know: start a newer Posthorn`,
    )
  }
  for (const { name, checksum } of files) {
    if ((applied.get(name) ?? checksum) === checksum) continue
    throw new MigrationFault(`${name} was changed after it had been applied: add a new migration instead`)
  }
  return files.filter(({ name }) => !applied.has(name))
}

/** In the transaction of whoever calls it, who holds the lock as well. */
export async function applyMissing(client: pg.Client): Promise<string[]> {
  const pending = pendingOf(await knownMigrations(), await appliedIn(client))
  for (const migration of pending) await apply(client, migration)
  return pending.map(({ name }) => name)
}

async function apply(client: pg.Client, { name, text, checksum }: Migration): Promise<void> {
  try {
    await client.query(text)
    await client.query('insert into schema_migrations (name, checksum) values ($1, $2)', [name, checksum])
  } catch (error) {
    throw error instanceof Error ? Object.assign(error, { message: `${name}: ${error.message}` }) : error
  }
}

async function inTransaction(client: pg.Client, work: () => Promise<void>): Promise<void> {
  try {
    await client.query('begin')
    await work()
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}
