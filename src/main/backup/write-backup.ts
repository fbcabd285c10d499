// A backup of one moment: all tables in one snapshot, then the files of the data folder.
import { createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type pg from 'pg'
import { isDiskFull } from '../../kernel/disk-full.ts'
import type { Config } from '../config.ts'
import { packageVersion } from '../package-root.ts'
import {
  connect,
  copyOutOf,
  listApplied,
  listSequences,
  listTables,
  lockTables,
  settle,
} from './catalog-queries.ts'
import { copyOut } from './copy.ts'
import { mediaIn, secretKeyPrints, secretsIn } from './data-files.ts'
import { clearOldDrafts, draftOf } from './drafts.ts'
import {
  BackupFault,
  digestOf,
  type End,
  entryOf,
  formatVersion,
  jsonEntry,
  type Manifest,
  type Progress,
} from './format.ts'
import { type Ground, lookAround } from './own-names.ts'
import { type Entry, writeTar } from './tar.ts'

export type BackupNeeds = {
  url: string
  config: Pick<Config, 'dataDir' | 'secretKey'>
  file: string
  now: Date
  progress: Progress
}

export type Written = {
  bytes: number
  tables: number
  rows: number
  media: number
  secretKeyIncluded: boolean
  /** What the database holds of somebody else. */
  leftOut: string[]
}

export async function writeBackup(needs: BackupNeeds): Promise<Written> {
  const { url, file, now } = needs
  const draft = draftOf(file)
  const client = await connect(url)
  try {
    const ground = await lookAround(client)
    if (!ground.isInUse) throw new BackupFault('there is nothing in the database to back up')
    const manifest = await beginSnapshot(client, needs, ground)
    const end: End = { sha256: '', rows: {}, media: 0 }
    const tar = Readable.from(writeTar(entries({ ...needs, client, manifest, end }), now))
    const target = createWriteStream(draft, { mode: 0o600, flush: true })
    await pipeline(tar, createGzip({ level: 4 }), target).catch((error) => {
      throw error === target.errored ? unwritten(file, error) : error
    })
    await rename(draft, file)
    // What cannot be cleared away does not spoil the backup.
    await clearOldDrafts(file, now).catch(() => undefined)
    const rows = Object.values(end.rows).reduce((sum, n) => sum + n, 0)
    const { size: bytes } = await stat(file)
    const secretKeyIncluded = manifest.secret_keys.included
    const { tables } = manifest
    const leftOut = ground.foreign
    return { bytes, tables: tables.length, rows, media: end.media, secretKeyIncluded, leftOut }
  } finally {
    await rm(draft, { force: true })
    await client.end()
  }
}

function unwritten(file: string, error: Error): BackupFault {
  return new BackupFault(
    `${file} cannot be written: ${isDiskFull(error) ? 'the disk is full' : error.message}`,
  )
}

/** From here on the transaction sees one moment, and no migration changes a table under it. */
async function beginSnapshot(
  client: pg.Client,
  { config, now }: BackupNeeds,
  { own, applied }: Ground,
): Promise<Manifest> {
  const tables = await listTables(client, own)
  await client.query('begin isolation level repeatable read read only')
  await settle(client)
  await lockTables(client, tables)
  const migrations = (await listApplied(client)) ?? []
  const found = [migrations, await listTables(client, own)]
  if (JSON.stringify(found) !== JSON.stringify([applied, tables]))
    throw new BackupFault('the database was being migrated: try again')
  const { rows } = await client.query('show server_version')
  return {
    format: formatVersion,
    posthorn: packageVersion(),
    postgres: rows[0].server_version,
    created_at: now.toISOString(),
    migrations,
    tables,
    sequences: await listSequences(client, own),
    secret_keys: await secretKeyPrints(config),
  }
}

type Contents = BackupNeeds & { client: pg.Client; manifest: Manifest; end: End }

async function* entries(contents: Contents): AsyncGenerator<Entry> {
  const digest = digestOf()
  for await (const entry of contentEntries(contents)) yield digest.pass(entry)
  const { end } = contents
  end.sha256 = digest.hex()
  yield jsonEntry('end.json', end)
}

async function* contentEntries({ client, manifest, end, config, progress }: Contents): AsyncGenerator<Entry> {
  yield jsonEntry('manifest.json', manifest)
  yield* await secretsIn(config)
  for (const [at, table] of manifest.tables.entries()) {
    const { name } = table
    end.rows[name] = 0
    for await (const piece of pieces(copyOut(client, copyOutOf(table)))) {
      yield entryOf(`tables/${name}/${end.rows[name]}`, piece)
      end.rows[name] += rowsIn(piece)
      progress(`table ${at + 1} of ${manifest.tables.length}: ${name}, ${end.rows[name]} rows`)
    }
  }
  await client.query('commit')
  for await (const entry of mediaIn(config)) {
    yield entry
    progress(`media: ${++end.media} files`)
  }
}

const pieceBytes = 4 * 1024 * 1024

/** A tar says how long a file is before the file: so each table becomes many, which fit into memory. */
async function* pieces(rows: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let [held, bytes]: [Buffer[], number] = [[], 0]
  for await (const some of rows) {
    held.push(some)
    bytes += some.length
    if (bytes < pieceBytes) continue
    yield Buffer.concat(held)
    held = []
    bytes = 0
  }
  if (held.length > 0) yield Buffer.concat(held)
}

/** A line feed within a value is written otherwise. */
function rowsIn(piece: Buffer): number {
  let count = 0
  for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) count++
  return count
}
