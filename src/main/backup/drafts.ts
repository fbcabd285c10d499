// A backup has its name when it is whole; until then it is a draft, which a killed process leaves behind.
import { randomBytes } from 'node:crypto'
import { readdir, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

export const draftOf = (file: string) => `${file}.${process.pid}-${randomBytes(3).toString('hex')}.part`

const form = /\.(\d+)-[0-9a-f]{6}\.part$/
// A process elsewhere may write to the same folder; it does so all the time.
const restsMs = 3_600_000

/** Those beside the file that nobody writes any more: they are as secret as a backup. */
export async function clearOldDrafts(file: string, now: Date): Promise<void> {
  const folder = dirname(file)
  for (const name of await readdir(folder)) {
    const pid = Number(form.exec(name)?.[1])
    if (!pid || isAlive(pid)) continue
    const path = join(folder, name)
    const found = await stat(path).catch(() => undefined)
    if (found && now.getTime() - found.mtimeMs > restsMs) await rm(path, { force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
