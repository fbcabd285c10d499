// A program of this folder as a process of its own, to be killed.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'

/** Started when it has said something. */
export async function startWorker(
  file: string,
  databaseUrl: string,
  env: Record<string, string> = {},
): Promise<ChildProcess> {
  const program = fileURLToPath(new URL(file, import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', program, databaseUrl], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  after(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child
}

export async function kill(child: ChildProcess): Promise<void> {
  assert.equal(child.exitCode, null, 'the worker ended by itself')
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
