import { open, rename, stat } from 'node:fs/promises'
import { unless } from './failure.ts'
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
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(mostRead), 0, mostRead, from)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

/** Passes new lines on, a little later than they are written. */
export const followLog = async (file: string, onLine: (line: string) => void, everyMs = 250) => {
  let at = await sizeOf(file)
  const readNew = async () => {
    if ((await sizeOf(file)) < at) at = 0
    const bytes = await readLogFrom(file, at)
    const whole = bytes.subarray(0, bytes.length === mostRead ? mostRead : bytes.lastIndexOf('\n') + 1)
    at += whole.length
    for (const line of whole.toString('utf8').split('\n')) if (line !== '') onLine(line)
  }
  let reading = Promise.resolve()
  const readAfterwards = () => {
    reading = reading.then(readNew).catch(() => undefined)
    return reading
  }
  const timer = setInterval(readAfterwards, everyMs).unref()
  return async () => {
    clearInterval(timer)
    await readAfterwards()
  }
}
