// The built command as a user runs it: real processes on folders and ports of their own.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { eventually, serverPid } from '../../src/adapters/embedded-postgres/fixtures/testing.ts'
import { type CallOptions, call, type Reply } from '../app.ts'
import { sparePort } from '../spare-port.ts'

export { eventually, serverPid }

const program = fileURLToPath(new URL('../../bin/posthorn.js', import.meta.url))
const startLimitMs = 30_000
const runLimitMs = 40_000

export type Env = Record<string, string>
export type Place = { dataDir: string; port: number; url: string; env: Env }
export type Ended = { code: number | null; signal: NodeJS.Signals | null }
export type Ran = Ended & { out: string; err: string }

const children: ChildProcess[] = []
const folders: string[] = []

// One hook for the file: every process that a test started ends here if it has not ended before.
after(async () => {
  for (const child of children) if (isRunning(child)) child.kill('SIGKILL')
  for (const folder of folders) {
    await endServer(folder)
    await rm(folder, { recursive: true, force: true })
  }
})

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null
}

async function endServer(dataDir: string): Promise<void> {
  const pid = await serverPid(dataDir)
  if (pid === undefined) return
  process.kill(pid, 'SIGQUIT')
  await eventually(async () => (await serverPid(dataDir)) === undefined)
}

export async function makePlace(env: Env = {}): Promise<Place> {
  const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-process-'))
  folders.push(dataDir)
  const port = await sparePort()
  const own = {
    PATH: process.env.PATH ?? '',
    POSTHORN_DATA_DIR: dataDir,
    POSTHORN_PORT: String(port),
    // Processes of other tests run at the same time.
    POSTHORN_SMTP_PORT: '0',
  }
  return { dataDir, port, url: `http://127.0.0.1:${port}`, env: { ...own, ...env } }
}

type Launched = { child: ChildProcess; out: () => string; err: () => string; ended: Promise<Ended> }

function launch(env: Env, args: string[]): Launched {
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  const said = { out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    said.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    said.err += chunk
  })
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal }))
  })
  return { child, out: () => said.out, err: () => said.err, ended }
}

/** Runs a command to its end. */
export async function run({ env }: Pick<Place, 'env'>, ...args: string[]): Promise<Ran> {
  const { child, out, err, ended } = launch(env, args)
  const limit = setTimeout(() => child.kill('SIGKILL'), runLimitMs)
  const end = await ended
  clearTimeout(limit)
  return { ...end, out: out(), err: err() }
}

export type Service = {
  pid: number
  out(): string
  err(): string
  /** The lines of the log on standard error. */
  log(): Record<string, unknown>[]
  call(method: string, path: string, options?: CallOptions): Promise<Reply>
  ended: Promise<Ended>
  /** Sends the signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<Ended>
}

/** Starts the service and waits until it says that it is ready. */
export async function start(place: Place, ...args: string[]): Promise<Service> {
  const service = begin(place, ...args)
  let ended: Ended | undefined
  service.ended.then((end) => {
    ended = end
  })
  const deadline = Date.now() + startLimitMs
  while (!service.out().includes('Posthorn is ready.')) {
    if (ended || Date.now() > deadline) throw new Error(`not ready: ${service.out()} ${service.err()}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return service
}

/** Starts the service and does not wait. */
export function begin({ env, url }: Place, ...args: string[]): Service {
  const { child, out, err, ended } = launch(env, ['start', ...args])
  return {
    pid: child.pid ?? 0,
    out,
    err,
    log: () =>
      err()
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line)),
    call: (method, path, options = {}) => call(url, method, path, options),
    ended,
    end: (signal) => {
      child.kill(signal)
      return ended
    },
  }
}

/** The key that a first start shows. */
export function keyIn(text: string): string {
  return /phk_(live|test)_[0-9A-Za-z]{32}/.exec(text)?.[0] ?? ''
}

export function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '')
}
