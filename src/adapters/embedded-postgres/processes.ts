import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { promisify } from 'node:util'
import { codeOf } from './failure.ts'

/** Also true of a process that ended and was not yet collected by its parent. */
export const takesSignals = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

/** Whether this process is a PostgreSQL server that works in the cluster's folder. */
export const isServerOf = async (pid: number, cluster: string): Promise<boolean> => {
  const about = await describe(pid)
  if (about === undefined || about.isZombie || about.program !== 'postgres') return false
  return process.platform === 'linux' ? worksIn(pid, cluster) : true
}

// A folder we may not look into belongs to a process of another user, and the server runs as the cluster's owner.
const worksIn = async (pid: number, cluster: string) => {
  try {
    const [its, ours] = await Promise.all([stat(`/proc/${pid}/cwd/.`), stat(cluster)])
    return its.dev === ours.dev && its.ino === ours.ino
  } catch {
    return false
  }
}

type Described = { program: string; isZombie: boolean }

const describe = (pid: number): Promise<Described | undefined> =>
  process.platform === 'linux' ? describeByProc(pid) : describeByPs(pid)

const describeByProc = async (pid: number) => {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  const parts = line === undefined ? null : /^\d+ \((.*)\) (\S)/s.exec(line)
  return parts === null ? undefined : { program: parts[1] ?? '', isZombie: /[ZX]/.test(parts[2] ?? '') }
}

const describeByPs = async (pid: number) => {
  const run = promisify(execFile)('ps', ['-o', 'stat=', '-o', 'comm=', '-p', String(pid)], { timeout: 5000 })
  const line = await run.then(
    ({ stdout }) => stdout.trim(),
    () => '',
  )
  const parts = /^(\S+)\s+(?:.*\/)?([^/]+)$/.exec(line)
  return parts === null
    ? undefined
    : { program: parts[2] ?? '', isZombie: parts[1]?.startsWith('Z') ?? false }
}
