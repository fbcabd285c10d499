// Signatures are made in threads of their own that give way to everything else. One takes the processor for most of
// a millisecond: in threads of the usual priority, a newsletter's signatures keep the loop and the database waiting for
// their turn, then wait for them, and a tenth of the machine is idle.
import { type KeyObject, sign } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

/** The signature of SHA-256, as base64. The data has one byte a character. */
export type SignApart = (data: string, key: KeyObject) => Promise<string>

type Job = { data: string; key: KeyObject; resolve(signature: string): void; reject(error: Error): void }
/** `key`: of the last job it was given. */
type Thread = { worker: Worker; underWay: Job[]; key?: KeyObject }
type Reply = { signature?: string; fault?: string }[]

const mostThreads = 4
// So much that a thread has something to do while its last signatures are fetched and new work is brought.
const lead = 8

// As text it is the same from the sources and in the bundle, and starts without a loader. Only Linux knows a priority
// of one thread.
const signingThread = `
  const { parentPort } = require('node:worker_threads')
  const { sign } = require('node:crypto')
  if (process.platform === 'linux') require('node:os').setPriority(0, 5)
  let current
  parentPort.on('message', (jobs) => {
    parentPort.postMessage(jobs.map(({ data, key }) => {
      try {
        current = key ?? current
        return { signature: sign('sha256', Buffer.from(data, 'latin1'), current).toString('base64') }
      } catch (error) {
        return { fault: error.message }
      }
    }))
  })`

/** The threads start with the first signature and do not keep the process alive. */
export function openSigners(source = signingThread): SignApart {
  const waiting: Job[] = []
  let threads: Thread[] | undefined
  let willHandOut = false

  function handOut(): void {
    willHandOut = false
    threads ??= startAll()
    if (threads.length === 0) for (const job of waiting.splice(0)) signHere(job)
    const given = new Map<Thread, Job[]>()
    while (waiting.length > 0) {
      const idlest = threads.reduce((a, b) => (b.underWay.length < a.underWay.length ? b : a))
      if (idlest.underWay.length >= lead) break
      const job = waiting.shift() as Job
      idlest.underWay.push(job)
      given.set(idlest, [...(given.get(idlest) ?? []), job])
    }
    for (const [thread, jobs] of given) give(thread, jobs)
  }

  function startAll(): Thread[] {
    const started: Thread[] = []
    try {
      while (started.length < Math.min(mostThreads, availableParallelism())) started.push(start())
    } catch {
      // The system has no more threads for us: we go on with those that there are, or with none.
    }
    return started
  }

  function start(): Thread {
    const worker = openWorker(source)
    const thread: Thread = { worker, underWay: [] }
    worker.on('message', (reply: Reply) => {
      for (const one of reply) answer(thread.underWay.shift(), one)
      if (thread.underWay.length === 0) worker.unref()
      handOut()
    })
    worker.once('error', () => giveUp(thread))
    worker.once('exit', () => giveUp(thread))
    // After the listeners, which would hold it again.
    worker.unref()
    return thread
  }

  /** One that could not start, or died: what it had is signed all the same. */
  function giveUp(lost: Thread): void {
    threads = threads?.filter((one) => one !== lost)
    for (const job of lost.underWay.splice(0)) signHere(job)
    handOut()
  }

  return (data, key) =>
    new Promise((resolve, reject) => {
      waiting.push({ data, key, resolve, reject })
      // What one turn of the event loop asks for travels together.
      if (!willHandOut) setImmediate(handOut)
      willHandOut = true
    })
}

function openWorker(source: string): Worker {
  const resourceLimits = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 }
  return new Worker(source, { eval: true, execArgv: [], env: {}, resourceLimits })
}

/** A key is sent where it differs from the one before: mostly there is one, and it costs as much as all the rest. */
function give(thread: Thread, jobs: Job[]): void {
  thread.worker.ref()
  thread.worker.postMessage(
    jobs.map(({ data, key }) => {
      if (key === thread.key) return { data }
      thread.key = key
      return { data, key }
    }),
  )
}

function answer(job: Job | undefined, { signature, fault }: Reply[number]): void {
  if (signature === undefined) job?.reject(new Error(fault))
  else job?.resolve(signature)
}

/** In the thread pool. */
function signHere({ data, key, resolve, reject }: Job): void {
  sign('sha256', Buffer.from(data, 'latin1'), key, (error, signature) => {
    if (error) reject(error)
    else resolve(signature.toString('base64'))
  })
}
