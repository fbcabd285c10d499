import { link, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { deadlineIn, until } from './deadline.ts'
import { unless } from './failure.ts'
import { isServerOf, takesSignals } from './processes.ts'

export type PidFile = { text: string; pid: number; port: number; status: string }

const fileOf = (cluster: string) => path.join(cluster, 'postmaster.pid')

const readText = (file: string) => readFile(file, 'utf8').catch(unless(['ENOENT'], undefined))

export const readPidFile = async (cluster: string): Promise<PidFile | undefined> => {
  const text = await readText(fileOf(cluster))
  if (text === undefined) return undefined
  const lines = text.split('\n')
  // A server in single-user mode writes its number negative.
  return { text, pid: Math.abs(Number(lines[0])), port: Number(lines[3]), status: lines[7]?.trim() ?? '' }
}

/** The server that runs on this cluster, if one does. A file left by one that is gone does not stop the next. */
export const findServer = async (cluster: string): Promise<{ pid: number; port: number } | undefined> => {
  const file = await settledPidFile(cluster)
  if (file === undefined) return undefined
  if (file.pid > 0 && (await isServerOf(file.pid, cluster))) return file
  // PostgreSQL copes with a dead process by itself, but takes any other of that number for its rival.
  if (!(file.pid > 0) || takesSignals(file.pid)) await dropPidFile(cluster, file.text)
  return undefined
}

const emptyForMs = 1000

// A server writes its file in one go just after making it; one that stays empty is left from a full disk or a crash.
const settledPidFile = async (cluster: string) => {
  let file: PidFile | undefined
  await until(async () => {
    file = await readPidFile(cluster)
    return file === undefined || file.pid > 0
  }, deadlineIn(emptyForMs))
  return file
}

/** Takes the file away only if it still is the one that was judged; a server may have started meanwhile. */
export const dropPidFile = async (cluster: string, judged: string) => {
  const aside = `${fileOf(cluster)}.stale-${process.pid}`
  await rename(fileOf(cluster), aside).catch(unless(['ENOENT'], undefined))
  const taken = await readText(aside)
  if (taken !== undefined && taken !== judged)
    await link(aside, fileOf(cluster)).catch(unless(['EEXIST'], undefined))
  await rm(aside, { force: true })
}
