// A PostgreSQL of the test's own that can be frozen and killed under its clients.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { openEmbeddedPostgres } from '../../src/adapters/embedded-postgres/embedded-postgres.ts'
import { killServer, runningPid } from '../../src/adapters/embedded-postgres/fixtures/testing.ts'

export type Cluster = {
  url: string
  /** Every process of the server stands still, with its connections open. */
  freeze(): Promise<void>
  thaw(): Promise<void>
  kill(): Promise<void>
  /** On the same port, after a kill. */
  startAgain(): Promise<void>
}

export async function openCluster(): Promise<Cluster> {
  const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-faults-'))
  let server = await openEmbeddedPostgres({ dataDir, mode: 'service' })
  const { url, port } = server
  let frozen: number[] = []
  const thaw = async () => {
    for (const pid of frozen) signal(pid, 'SIGCONT')
    frozen = []
  }
  after(async () => {
    await thaw()
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
  })
  return {
    url,
    async freeze() {
      // The first of them makes the others: once it stands still there are no new ones.
      const postmaster = await runningPid(dataDir)
      signal(postmaster, 'SIGSTOP')
      frozen = [postmaster, ...(await childrenOf(postmaster))]
      for (const pid of frozen) signal(pid, 'SIGSTOP')
    },
    thaw,
    kill: () => killServer(dataDir),
    async startAgain() {
      server = await openEmbeddedPostgres({ dataDir, mode: 'service', port })
      if (server.port !== port) throw new Error(`the server came back on port ${server.port}, not ${port}`)
    },
  }
}

/** A process that is gone by now needs no signal. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

async function childrenOf(parent: number): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')))
  // The program's name stands in parentheses and may hold anything.
  return pids.filter((_, i) => Number(/\) \S (\d+)/.exec(stats[i] ?? '')?.[1]) === parent)
}
