// What stands in a backup: a gzipped tar with manifest.json first, then secrets, tables in pieces and media, and
// end.json last, without which it is not whole.
import { createHash, type Hash } from 'node:crypto'
import type { Applied, Sequence, Table } from './catalog-queries.ts'
import type { Entry } from './tar.ts'

export const formatVersion = 1

export type Manifest = {
  format: number
  posthorn: string
  postgres: string
  created_at: string
  migrations: Applied[]
  tables: Table[]
  sequences: Sequence[]
  /** Fingerprints of the keys that secrets are sealed with, newest first, and whether the keys are in the backup. */
  secret_keys: { prints: string[]; included: boolean }
}

export type End = { sha256: string; rows: Record<string, number>; media: number }

/** An operator's mistake or a file's fault: said in one line, without a stack. */
export class BackupFault extends Error {}

/** Names, sizes and contents of all entries but the last. */
export function digestOf(): { pass(entry: Entry): Entry; hex(): string } {
  const hash = createHash('sha256')
  return {
    pass: (entry) => {
      hash.update(`${entry.name}\0${entry.size}\0`)
      return { ...entry, body: hashed(entry.body, hash) }
    },
    hex: () => hash.digest('hex'),
  }
}

async function* hashed(body: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Buffer> {
  for await (const chunk of body) {
    hash.update(chunk)
    yield chunk
  }
}

export function entryOf(name: string, content: Buffer): Entry {
  return {
    name,
    size: content.length,
    body: (async function* () {
      yield content
    })(),
  }
}

export const jsonEntry = (name: string, value: unknown): Entry =>
  entryOf(name, Buffer.from(`${JSON.stringify(value, null, 1)}\n`))

export type Progress = (line: string) => void
