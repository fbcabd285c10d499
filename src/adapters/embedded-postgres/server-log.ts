import { appendFile, copyFile, open, rename, rm, stat, truncate } from 'node:fs/promises'
import { codeOf, unless } from './failure.ts'
import { giveToFolderOwner } from './password.ts'

const rotateOver = 10 * 1024 * 1024

const sizeOf = (file: string) => stat(file).then(({ size }) => size, unless(['ENOENT'], 0))

/** The server writes to a file of its own: a pipe to us would break its writes once we are killed. */
export const openServerLog = async (file: string) => {
  if ((await sizeOf(file)) > rotateOver) await rename(file, `${file}.1`).catch(unless(['ENOENT'], undefined))
  const handle = await open(file, 'a', 0o600)
  await giveToFolderOwner(file)
  return { handle, from: (await handle.stat()).size }
}

const mostRead = 256 * 1024

export const readLogFrom = async (file: string, from: number): Promise<Buffer> => {
  const handle = await open(file, 'r').catch(unless(['ENOENT'], undefined))
  if (handle === undefined) return Buffer.alloc(0)
  try {
    // Emptied since: what is new begins at its beginning.
    const start = from > (await handle.stat()).size ? 0 : from
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(mostRead), 0, mostRead, start)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

/** `keepShort`: what grows too long is put aside from now on; for the one that owns the server. */
export type Following = { keepShort(): void; stop(): Promise<void> }

/** Passes new lines on, a little later than they are written. */
export const followLog = async (
  file: string,
  onLine: (line: string) => void = () => undefined,
  everyMs = 250,
): Promise<Following> => {
  let at = await sizeOf(file)
  let isKeptShort = false
  const passOn = async (from: string): Promise<void> => {
    const bytes = await readLogFrom(from, at)
    const isMore = bytes.length === mostRead
    const whole = bytes.subarray(0, isMore ? mostRead : bytes.lastIndexOf('\n') + 1)
    at += whole.length
    for (const line of whole.toString('utf8').split('\n')) if (line !== '') onLine(line)
    if (isMore) await passOn(from)
  }
  const readNew = async () => {
    if ((await sizeOf(file)) < at) at = 0
    await passOn(file)
    if (!isKeptShort || at <= rotateOver) return
    const aside = await putAside(file)
    if (aside !== undefined) await passOn(aside)
    at = 0
  }
  let reading = Promise.resolve()
  const readAfterwards = () => {
    reading = reading.then(readNew).catch(() => undefined)
    return reading
  }
  const timer = setInterval(readAfterwards, everyMs).unref()
  return {
    keepShort() {
      isKeptShort = true
    },
    async stop() {
      clearInterval(timer)
      await readAfterwards()
    },
  }
}

const mostCaughtUp = 5

/**
 * Gives where it is; nothing where the disk has no room for it. The server keeps the file open, and appends: it goes on
 * at the beginning of one that was emptied.
 */
const putAside = async (file: string): Promise<string | undefined> => {
  const aside = `${file}.1`
  const isKept = await copyAll(file, `${aside}.new`)
  await truncate(file)
  if (!isKept) return undefined
  await rename(`${aside}.new`, aside)
  return aside
}

/** What is written meanwhile is caught up with, but not for ever: what never rests is cut short all the same. */
const copyAll = async (file: string, copy: string): Promise<boolean> => {
  try {
    await copyFile(file, copy)
    await giveToFolderOwner(copy)
    for (let tries = 0; tries < mostCaughtUp; tries++) {
      const late = await readLogFrom(file, await sizeOf(copy))
      if (late.length === 0) break
      await appendFile(copy, late)
    }
    return true
  } catch (error) {
    await rm(copy, { force: true })
    if (codeOf(error) === 'ENOSPC') return false
    throw error
  }
}
