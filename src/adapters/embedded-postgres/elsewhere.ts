// Containers that share a data folder do not see each other's processes, and a server file whose process cannot be seen
// looks like one that was left behind. A socket in the folder reaches across: two servers would destroy the database.
import { chmod, readlink, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import path from 'node:path'

const socketIn = (dataDir: string) => path.join(dataDir, 'posthorn.sock')

/** By which the system tells processes that see each other; nothing where it does not. */
const namespace = () => readlink('/proc/self/ns/pid').catch(() => undefined)

/** Tells whoever asks that this folder has its owner; gives what ends that. Some file systems take no sockets. */
export const tellOwned = async (dataDir: string): Promise<() => Promise<void>> => {
  const own = await namespace()
  if (own === undefined) return async () => {}
  const file = socketIn(dataDir)
  await rm(file, { force: true })
  const server = createServer((socket) => socket.on('error', () => {}).end(own)).unref()
  const isOpen = await new Promise<boolean>((resolve) => {
    server.on('error', () => resolve(false)).listen(file, () => resolve(true))
  })
  if (isOpen) await chmod(file, 0o600).catch(() => undefined)
  return () => new Promise((done) => (isOpen ? server.close(() => done()) : done()))
}

const answerMs = 2_000

/** Whether the folder has an owner among processes that cannot be seen from here. */
export const isOwnedElsewhere = async (dataDir: string): Promise<boolean> => {
  const own = await namespace()
  if (own === undefined) return false
  const told = await new Promise<string>((resolve) => {
    let text = ''
    const socket = connect(socketIn(dataDir))
    socket.setTimeout(answerMs, () => socket.destroy())
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', () => {}).on('close', () => resolve(text))
  })
  return told !== '' && told !== own
}
