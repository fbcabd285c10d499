// The built service as a process group of its own, which can be killed and started again on the same port.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { until } from '../until.ts'

const program = fileURLToPath(new URL('../../bin/posthorn.js', import.meta.url))
const startLimitMs = 30_000

export const faultKey = 'phk_live_000000000000000000000000faults'

export type Place = {
  port: number
  databaseUrl: string
  sinkPort: number
  env?: Record<string, string>
  /** Of --role; all when absent. */
  role?: string
}

export type Process = {
  pid: number
  /** What it reported when it was ready. */
  report: { url: string | null; smtp: string | null }
  err(): string
  /** To the whole group, unless it has ended. */
  signal(name: NodeJS.Signals): void
  /** SIGKILL to the whole group. */
  kill(): Promise<void>
  /** SIGTERM, and its exit code. */
  stop(): Promise<number | null>
}

/** Gives the process when it says that it is ready. */
export async function startService(place: Place): Promise<Process> {
  const roles = place.role ? ['--role', place.role] : []
  const child = spawn(process.execPath, [program, 'start', '--json', ...roles], {
    env: environment(place),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    said.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    said.err = (said.err + chunk).slice(-100_000)
  })
  after(() => killGroup(child))
  const isReady = async () => {
    if (!isRunning(child)) throw new Error(`the service ended: ${said.err}`)
    return said.out.includes('\n')
  }
  await until(isReady, 'the service to be ready', startLimitMs)
  const report = JSON.parse(said.out.split('\n')[0] ?? '')
  return {
    pid: child.pid ?? 0,
    report,
    err: () => said.err,
    signal: (name) => signalGroup(child, name),
    kill: () => killGroup(child),
    stop: () => stop(child),
  }
}

function environment({ port, databaseUrl, sinkPort, env }: Place): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    DATABASE_URL: databaseUrl,
    POSTHORN_API_KEY: faultKey,
    POSTHORN_PORT: String(port),
    POSTHORN_SMTP_PORT: '0',
    POSTHORN_TRANSPORT: `smtp://127.0.0.1:${sinkPort}?connections=5`,
    POSTHORN_RATE_LIMIT_FACTOR: '100000',
    POSTHORN_RETRY_FACTOR: '0.01',
    POSTHORN_LOG_LEVEL: 'warn',
    ...env,
  }
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null
}

function signalGroup(child: ChildProcess, name: NodeJS.Signals): void {
  if (isRunning(child) && child.pid !== undefined) process.kill(-child.pid, name)
}

async function killGroup(child: ChildProcess): Promise<void> {
  if (!isRunning(child) || child.pid === undefined) return
  const ended = once(child, 'exit')
  signalGroup(child, 'SIGKILL')
  await ended
}

async function stop(child: ChildProcess): Promise<number | null> {
  if (!isRunning(child)) return child.exitCode
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const [code] = await ended
  return code
}
