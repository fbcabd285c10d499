// What a bench measures against: a PostgreSQL of its own, the service and other servers as child processes.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import manifest from '../package.json' with { type: 'json' }
import { openEmbeddedPostgres } from '../src/adapters/embedded-postgres/embedded-postgres.ts'
import { builtChildren } from './build-children.ts'

export const benchKey = 'phk_live_00000000000000000000000bench'

export type Stop = () => Promise<void>

export async function startDatabase(): Promise<{ url: string; stop: Stop }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-bench-'))
  const server = await openEmbeddedPostgres({ dataDir, mode: 'service' })
  return {
    url: server.url,
    stop: async () => {
      await server.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** What npm start gives to Node. */
const asStarted = manifest.scripts.start.split(' ').slice(2)

export async function startService(
  databaseUrl: string,
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<{ url: string; smtpPort: number; pid: number; stop: Stop }> {
  const child = spawn(process.execPath, [...asStarted, '--json', ...args], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: databaseUrl,
      POSTHORN_API_KEY: benchKey,
      POSTHORN_PORT: '0',
      POSTHORN_SMTP_PORT: '0',
      POSTHORN_RATE_LIMIT_FACTOR: '100000',
      ...env,
    },
    // The log is written, as in production, and read by nobody.
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const { url, smtp } = JSON.parse(await firstLine(child))
  const smtpPort = Number(/:(\d+)$/.exec(smtp ?? '')?.[1] ?? 0)
  return { url, smtpPort, pid: child.pid ?? 0, stop: () => stopChild(child) }
}

export const startChild = (script: string, ...args: string[]): ChildProcess =>
  spawn(process.execPath, [`${builtChildren}/${script}.js`, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })

export async function startBareServer(
  documents: Record<string, unknown>,
): Promise<{ url: string; stop: Stop }> {
  const child = startChild('bare-server', JSON.stringify(documents))
  return { url: `http://127.0.0.1:${await firstLine(child)}`, stop: () => stopChild(child) }
}

export async function firstLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('no output to read')
  const [line] = await once(createInterface(child.stdout), 'line')
  return line
}

export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}
