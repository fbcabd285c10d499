import { readdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { unless } from './failure.ts'
import { takesSignals } from './processes.ts'

const drafts = /^postgres(?:-password|ql-.+)?\.new-(\d+)-/
const oldMs = 10 * 60_000

/** Removes what starts that were cut short left behind; what cannot be removed yet waits for the next start. */
export const removeLeftovers = async (dataDir: string) => {
  for (const name of await readdir(dataDir)) {
    const pid = Number(drafts.exec(name)?.[1] ?? Number.NaN)
    const draft = path.join(dataDir, name)
    if (!Number.isNaN(pid) && (await isAbandoned(draft, pid))) await removeIfPossible(draft)
  }
}

// The initdb of a killed start may still be writing until it finds its folder gone.
const removeIfPossible = (draft: string) =>
  rm(draft, { recursive: true, force: true, maxRetries: 4, retryDelay: 50 }).catch(() => undefined)

// In a container a later start often has the process number of the earlier one, so ours proves nothing by itself.
const isAbandoned = async (draft: string, pid: number) => {
  const about = await stat(draft).catch(unless(['ENOENT'], undefined))
  if (about === undefined || !takesSignals(pid)) return true
  const startedAt = Date.now() - process.uptime() * 1000
  return about.mtimeMs < (pid === process.pid ? startedAt : Date.now() - oldMs)
}
