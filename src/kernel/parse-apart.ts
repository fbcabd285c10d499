// Mail is read in threads of its own. Whoever writes a mail decides how long that takes: a megabyte of blank lines
// keeps the parser busy for many seconds, and the loop serves everybody.
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import type { Email, PostalMimeOptions } from 'postal-mime'
import { windowsUpper } from './decode-text.ts'

/** Undefined when it cannot be read, or not in time. */
export type ParseApart = (raw: Buffer, options?: PostalMimeOptions) => Promise<Email | undefined>

type Job = { raw: Buffer; options: PostalMimeOptions; resolve(email: Email | undefined): void }
type Reply = { isBegun: true } | { isBegun?: undefined; email?: Email }
type Thread = { worker: Worker; job?: Job; timer?: NodeJS.Timeout }

const mostThreads = 2
const longestMs = 3_000

// Its decoder reads windows-1252 as the parser expects (`decode-text.ts`).
// As text it is the same from the sources and in the bundle, and starts without a loader. It tells when it begins: how
// long a thread takes to start is not the mail's fault.
const parsingThread = `
  const { parentPort, workerData } = require('node:worker_threads')
  const upper = ${JSON.stringify(windowsUpper)}
  globalThis.TextDecoder = class extends TextDecoder {
    decode(...given) {
      const text = super.decode(...given)
      if (this.encoding !== 'windows-1252') return text
      return text.replace(/[\\x80-\\x9f]/g, (one) => upper[one.charCodeAt(0) - 0x80])
    }
  }
  const { default: PostalMime } = require(workerData)
  if (process.platform === 'linux') require('node:os').setPriority(0, 5)
  parentPort.on('message', async ({ raw, options }) => {
    parentPort.postMessage({ isBegun: true })
    const email = await PostalMime.parse(raw, options).catch(() => undefined)
    parentPort.postMessage({ email })
  })`

/** The threads start with the first mail and do not keep the process alive. */
export function openParsers({ limitMs = longestMs } = {}): ParseApart {
  const waiting: Job[] = []
  const threads = new Set<Thread>()

  function handOut(): void {
    while (waiting.length > 0) {
      const idle = [...threads].find(({ job }) => !job) ?? (threads.size < mostThreads ? start() : undefined)
      if (!idle) return
      give(idle, waiting.shift() as Job)
    }
  }

  function start(): Thread {
    const thread: Thread = { worker: openWorker() }
    threads.add(thread)
    thread.worker.on('message', (reply: Reply) => {
      // A loop that was held up finds the mail read before it looks at the clock.
      if (reply.isBegun) thread.timer = setTimeout(() => setImmediate(giveUp, thread, thread.job), limitMs)
      else settle(thread, reply.email)
    })
    thread.worker.once('error', () => giveUp(thread))
    thread.worker.once('exit', () => giveUp(thread))
    return thread
  }

  function settle(thread: Thread, email?: Email): void {
    clearTimeout(thread.timer)
    const { job } = thread
    thread.job = undefined
    thread.worker.unref()
    job?.resolve(email)
    handOut()
  }

  /** `late`: the job that its time is over for, where it is not the thread that failed. */
  function giveUp(thread: Thread, late = thread.job): void {
    if (thread.job !== late || !threads.delete(thread)) return
    void thread.worker.terminate()
    settle(thread)
  }

  return (raw, options = {}) =>
    new Promise((resolve) => {
      waiting.push({ raw, options, resolve })
      handOut()
    })
}

function openWorker(): Worker {
  const resourceLimits = { maxOldGenerationSizeMb: 512 }
  const workerData = createRequire(import.meta.url).resolve('postal-mime')
  return new Worker(parsingThread, { eval: true, execArgv: [], env: {}, workerData, resourceLimits })
}

function give(thread: Thread, job: Job): void {
  const { raw, options } = job
  thread.job = job
  thread.worker.ref()
  // A copy of its own: what a buffer is part of would be copied whole.
  const bytes = new Uint8Array(raw)
  thread.worker.postMessage({ raw: bytes, options }, [bytes.buffer])
}
