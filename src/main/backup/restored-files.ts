// The files that a restore brings. They are written under names of their own, and take the places of the old ones when
// the database is committed. A journal in the data folder lets whoever comes next end what was interrupted between.
import { createWriteStream } from 'node:fs'
import { access, copyFile, mkdir, open, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { mediaNames, secretFiles, unlessMissing } from './data-files.ts'
import { BackupFault } from './format.ts'

export type Journal = {
  /** The database has it when the restore is committed. */
  id: string
  /** In the names of what is kept. */
  suffix: string
}

const journalOf = (dataDir: string) => join(dataDir, 'restore-under-way.json')
const draftOf = (path: string) => `${path}.restoring`
// Inside the folder, which may be a disk of its own: nothing can be renamed onto another disk, nor that one itself.
const placesOf = (dataDir: string) => {
  const media = join(dataDir, 'media')
  return { media, draft: join(media, '.restoring') }
}

export function restoredFiles(dataDir: string) {
  const { media, draft } = placesOf(dataDir)
  const secrets = new Map<string, Buffer>()
  return {
    keepSecret(name: string, content: Buffer) {
      if (secretFiles.includes(name)) secrets.set(name, content)
    },
    async addMedia(name: string, body: AsyncIterable<Buffer>) {
      const path = join(draft, ...safeName(name))
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await pipeline(body, createWriteStream(path, { mode: 0o600, flush: true }))
    },
    /** After this only renames are left to do. */
    async prepare(journal: Journal) {
      await mkdir(dataDir, { recursive: true, mode: 0o700 })
      for (const [name, content] of secrets) await writeDraft(join(dataDir, name), content)
      if (await isThere(media)) await mkdir(draft, { recursive: true, mode: 0o700 })
      const text = `${JSON.stringify(journal)}\n`
      await writeFile(journalOf(dataDir), text, { mode: 0o600, flush: true })
      await syncFolder(dataDir)
    },
  }
}

function safeName(name: string): string[] {
  const parts = posix.normalize(name).split('/')
  if (name === '' || parts.some((part) => part === '..' || part === '') || parts.join('/') !== name)
    throw new BackupFault(`${JSON.stringify(name)} is not the name of a file below the folder of media`)
  return parts
}

async function writeDraft(path: string, content: Buffer): Promise<void> {
  const kept = await readFile(path).catch(unlessMissing)
  if (!kept?.equals(content)) await writeFile(draftOf(path), content, { mode: 0o600, flush: true })
}

export async function readJournal(dataDir: string): Promise<Journal | undefined> {
  const text = await readFile(journalOf(dataDir), 'utf8').catch(unlessMissing)
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    // It was not whole before the commit began.
    return { id: '', suffix: '' }
  }
}

/** Nothing has taken the place of anything yet. */
export async function clearDrafts(dataDir: string): Promise<void> {
  await rm(placesOf(dataDir).draft, { recursive: true, force: true })
  for (const name of secretFiles) await rm(draftOf(join(dataDir, name)), { force: true })
  await rm(journalOf(dataDir), { force: true })
}

/** May be interrupted at any point and called again. What was there before is kept. */
export async function putInPlace(dataDir: string, { suffix }: Journal): Promise<void> {
  const before = `before-restore-${suffix}`
  for (const name of secretFiles) await replaceFile(join(dataDir, name), before)
  await replaceMedia(dataDir, before)
  await syncFolder(dataDir)
  await rm(journalOf(dataDir))
}

async function replaceFile(path: string, before: string): Promise<void> {
  const [draft, kept] = [draftOf(path), `${path}.${before}`]
  if (!(await isThere(draft))) return
  if ((await isThere(path)) && !(await isThere(kept))) {
    await copyFile(path, `${kept}.part`)
    await rename(`${kept}.part`, kept)
  }
  await rename(draft, path).catch(async (error) => {
    // A file that is a mount of its own can be written, but not be replaced.
    if (error.code !== 'EBUSY') throw error
    await copyFile(draft, path)
    await rm(draft)
  })
}

/** All of the old is away, under its own name, before the first of the new comes. */
async function replaceMedia(dataDir: string, before: string): Promise<void> {
  const { media, draft } = placesOf(dataDir)
  if (!(await isThere(draft))) return
  const kept = join(media, `.${before}`)
  if (!(await isThere(kept))) {
    await moveAll(media, `${kept}.part`)
    await rename(`${kept}.part`, kept)
  }
  await moveAll(draft, media)
  await rmdir(draft)
  await rmdir(kept).catch((error) => {
    if (!['ENOTEMPTY', 'EEXIST'].includes(error.code)) throw error
  })
}

async function moveAll(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 })
  for (const name of await mediaNames(from)) await rename(join(from, name), join(to, name))
}

const isThere = (path: string) =>
  access(path).then(
    () => true,
    (error) => unlessMissing(error) ?? false,
  )

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder)
  await handle.sync().finally(() => handle.close())
}
