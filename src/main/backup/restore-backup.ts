// Brings a backup back, all of it or nothing: the database in one transaction, the files as soon as it is committed.
import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import type pg from 'pg'
import { isDiskFull } from '../../kernel/disk-full.ts'
import type { Config } from '../config.ts'
import {
  applyMissing,
  knownMigrations,
  lockKey,
  type Migration,
  MigrationFault,
  migrationsTable,
  refuseUnfit,
} from '../migrate.ts'
import {
  connect,
  copyInto,
  countUsers,
  dropOwn,
  listTables,
  markRestored,
  openTables,
  setSequences,
  settle,
} from './catalog-queries.ts'
import { copyIn } from './copy.ts'
import { refuseOtherKeys } from './data-files.ts'
import { BackupFault, digestOf, type End, formatVersion, type Manifest, type Progress } from './format.ts'
import { type Ground, inWords, lookAround, namesMadeBy } from './own-names.ts'
import { clearDrafts, type Journal, restoredFiles } from './restored-files.ts'
import { finishFiles } from './settle-restore.ts'
import { type Entry, joined, readTar } from './tar.ts'
import { countWaiting, keepBackWaiting, type Waiting } from './waiting-queries.ts'

export type RestoreNeeds = {
  url: string
  config: Pick<Config, 'dataDir' | 'secretKey'>
  file: string
  /** Whatever Posthorn's tables hold goes. */
  force: boolean
  /** What was waiting is kept back: it may have left since the backup was made. */
  pause: boolean
  now: Date
  progress: Progress
}

type Loaded = {
  createdAt: string
  tables: number
  rows: number
  media: number
  migrated: string[]
  /** May have left since the backup was made; the next start sends it, unless it was kept back. */
  waiting: Waiting
  keptBack: boolean
}
/** `leftAlone`: what the database holds of somebody else. */
export type Restored = Loaded & { leftAlone: string[] }

export async function restoreBackup(needs: RestoreNeeds): Promise<Restored> {
  const client = await connect(needs.url)
  try {
    await refuseUnfit(client, needs.url)
    // A service that starts meanwhile waits for it before it looks at a table.
    await client.query('select pg_advisory_lock($1)', [lockKey])
    const ground = await lookAround(client)
    await refuseUsedDatabase(client, ground, needs.force)
    const restored = await fromFile(needs, client, ground)
    await client.query('analyze')
    return { ...restored, leftAlone: ground.foreign }
  } finally {
    await client.end()
  }
}

async function refuseUsedDatabase(
  client: pg.Client,
  { applied, isInUse, foreign }: Ground,
  force: boolean,
): Promise<void> {
  if (!applied && foreign.some((one) => one.startsWith('table ')))
    throw new BackupFault(
      `this database has tables of another application (${inWords(foreign)}): restore into one of its own`,
    )
  if (isInUse && !force)
    throw new BackupFault(
      'this database is not empty: restore into an empty one, or replace all with --force',
    )
  if ((await countUsers(client)) > 0)
    throw new BackupFault('a service or command is using this database: stop it first')
}

async function fromFile(needs: RestoreNeeds, client: pg.Client, ground: Ground): Promise<Loaded> {
  const source = createReadStream(needs.file)
  const unzipped = createGunzip()
  source.on('error', (error) => unzipped.destroy(error))
  try {
    return await load(readTar(source.pipe(unzipped)), { ...needs, client, ground })
  } catch (error) {
    if (isDiskFull(error))
      throw new BackupFault(
        `nothing was restored, for a disk is full (${error.message}): ` +
          `make room where the database is, and where ${needs.config.dataDir} is`,
      )
    if (isOfData(error)) throw new BackupFault(`the backup is damaged: ${error.message}`)
    // An error of the server or of the operator speaks for itself.
    if (error instanceof BackupFault || error instanceof MigrationFault || isOthers(error)) throw error
    const why = error instanceof Error ? error.message : error
    throw new BackupFault(
      `${needs.file} cannot be read: ${why}; it is cut off or damaged, or no backup of Posthorn`,
    )
  } finally {
    source.destroy()
  }
}

// SQLSTATE 22 and 23: rows that no database would have given.
const isOfData = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && /^2[23]...$/.test(String(error.code))

// Codes of the server, of the network and of files, but not of a damaged gzip.
const isOthers = (error: unknown) =>
  error instanceof Error && 'code' in error && !String(error.code).startsWith('Z_')

type Loading = RestoreNeeds & { client: pg.Client; ground: Ground }

async function load(entries: AsyncGenerator<Entry>, loading: Loading): Promise<Loaded> {
  const { client, config, now } = loading
  const { dataDir } = config
  const journal: Journal = { id: randomUUID(), suffix: now.toISOString().replaceAll(/[-:.]/g, '') }
  let loaded: Loaded
  try {
    loaded = await loadUncommitted(entries, loading, journal)
  } catch (error) {
    await clearDrafts(dataDir)
    throw error
  }
  // Whether a commit without an answer has happened shows when the database is opened again: the journal stays.
  await client.query('commit')
  await finishFiles(dataDir, journal)
  return loaded
}

async function loadUncommitted(
  entries: AsyncGenerator<Entry>,
  { config, progress, client, ground, pause }: Loading,
  journal: Journal,
): Promise<Loaded> {
  const digest = digestOf()
  const manifest = await readManifest(digest.pass, entries)
  const migrations = await migrationsOf(manifest)
  await refuseOtherKeys(config, manifest.secret_keys)
  const files = restoredFiles(config.dataDir)
  // Of one that was killed.
  await clearDrafts(config.dataDir)
  await client.query('begin')
  await settle(client)
  await dropOwn(client, ground.own).catch(refuseDependent)
  const close = await makeTables(client, manifest, migrations)
  const found = { rows: {} as Record<string, number>, media: 0 }
  const into = { client, manifest, files, found, progress }
  for await (const entry of entries) {
    if (entry.name !== 'end.json') await take(into, digest.pass(entry))
    else {
      refuseOther(await readJson<End>(entry), { sha256: digest.hex(), ...found })
      await setSequences(client, manifest.sequences)
      progress('holding the rows against their keys')
      await close()
      const migrated = await applyMissing(client)
      const waiting = await (pause ? keepBackWaiting : countWaiting)(client)
      await markRestored(client, journal.id)
      await files.prepare(journal)
      const rows = Object.values(found.rows).reduce((sum, n) => sum + n, 0)
      const { created_at: createdAt, tables } = manifest
      const { media } = found
      return { createdAt, tables: tables.length, rows, media, migrated, waiting, keptBack: pause }
    }
  }
  throw new BackupFault('the backup is not whole: its end is missing')
}

/** A view over our tables, a key that refers to them: not ours, and gone with them. */
function refuseDependent(error: unknown): never {
  const { code, detail } = error as { code?: string; detail?: string }
  if (code !== '2BP01') throw error
  throw new BackupFault(
    `something that Posthorn did not make hangs on its tables: ${detail?.split('\n')[0]}. ` +
      'Take it away, or restore into a database of its own',
  )
}

async function readManifest(
  pass: (entry: Entry) => Entry,
  entries: AsyncGenerator<Entry>,
): Promise<Manifest> {
  const { value } = await entries.next()
  const manifest = value?.name === 'manifest.json' && (await readJson<Manifest>(pass(value)))
  if (!manifest) throw new BackupFault('this is not a backup of Posthorn')
  if (manifest.format === formatVersion) return manifest
  throw new BackupFault(`this backup has format ${manifest.format}: restore it with a newer Posthorn`)
}

async function readJson<T>(entry: Entry): Promise<T> {
  return JSON.parse((await joined(entry.body)).toString())
}

/** The migrations that the backup's tables stand on; those after them are applied to its rows. */
async function migrationsOf({ migrations, posthorn }: Manifest): Promise<Migration[]> {
  const known = new Map((await knownMigrations()).map((one) => [one.name, one]))
  return migrations.map(({ name, checksum }) => {
    const found = known.get(name)
    if (found?.checksum === checksum) return found
    throw new BackupFault(
      found
        ? `this backup was made on another ${name} than this version has, by Posthorn ${posthorn}`
        : `this backup has ${name}, which this version does not know: restore it with a newer Posthorn`,
    )
  })
}

async function makeTables(client: pg.Client, { tables }: Manifest, migrations: Migration[]) {
  await client.query(migrationsTable)
  for (const { text } of migrations) await client.query(text)
  const made = await listTables(client, namesMadeBy(migrations))
  const shape = (all: typeof tables) => JSON.stringify(all.map((one) => [one.name, [...one.columns].sort()]))
  if (shape(made) !== shape(tables))
    throw new BackupFault('the tables of this backup are not those of its migrations')
  return openTables(client, tables)
}

type Into = {
  client: pg.Client
  manifest: Manifest
  files: ReturnType<typeof restoredFiles>
  found: { rows: Record<string, number>; media: number }
  progress: Progress
}

async function take(
  { client, manifest, files, found, progress }: Into,
  { name, body }: Entry,
): Promise<void> {
  const [kind = '', second = ''] = name.split('/')
  const rest = name.slice(kind.length + 1)
  if (kind === 'secrets') return files.keepSecret(rest, await joined(body))
  if (kind === 'media') {
    await files.addMedia(rest, body)
    return progress(`media: ${++found.media} files`)
  }
  const at = manifest.tables.findIndex((one) => one.name === second)
  const table = kind === 'tables' ? manifest.tables[at] : undefined
  if (!table) throw new BackupFault(`${name} has no place in a backup`)
  const count = await copyIn(client, copyInto(table), body)
  found.rows[second] = (found.rows[second] ?? 0) + count
  progress(`table ${at + 1} of ${manifest.tables.length}: ${second}, ${found.rows[second]} rows`)
}

function refuseOther(end: End, found: End): void {
  const isWhole = end.sha256 === found.sha256 && end.media === found.media
  const differs = Object.keys(end.rows).find((table) => end.rows[table] !== (found.rows[table] ?? 0))
  if (isWhole && differs === undefined) return
  throw new BackupFault(
    `the backup is damaged: ${differs ? `rows of ${differs}` : 'its checksum'} do not agree`,
  )
}
