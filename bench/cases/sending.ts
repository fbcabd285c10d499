// The delivery engine from the queue to an SMTP server, and its memory on the way.
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { compare, type Figure } from '../figure.ts'
import { firstLine, startChild, startDatabase, startService, stopChild } from '../start.ts'
import { fillQueue } from './fill.ts'

const perRound = 12_000
const loopCount = 1_600

type Sample = { sent: number; rate: number; rss: number }

export async function runEngine(script: 'engine' | 'campaign-engine', ...args: string[]): Promise<Sample[]> {
  const child = startChild(script, ...args)
  if (!child.stdout) throw new Error('no output to read')
  const samples: Sample[] = []
  createInterface(child.stdout).on('line', (line) => samples.push(JSON.parse(line)))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`the engine ended with ${code}`)
  return samples
}

/** A database with the first account, and a sink; the service itself is not needed. */
export async function withPlace<T>(work: (databaseUrl: string, sinkPort: string) => Promise<T>): Promise<T> {
  const database = await startDatabase()
  const sink = startChild('sink')
  try {
    const service = await startService(database.url, ['--role', 'api'])
    await service.stop()
    return await work(database.url, await firstLine(sink))
  } finally {
    await stopChild(sink)
    await database.stop()
  }
}

/** Messages a second from the queue to the sink, signed. */
export async function transactionalRate(url: string, port: string, pem: string): Promise<number> {
  await fillQueue(url, perRound)
  return (await runEngine('engine', url, port, String(perRound), pem)).at(-1)?.rate ?? 0
}

export function benchSending(): Promise<Figure[]> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return withPlace(async (url, port) => {
    const engine = () => transactionalRate(url, port, pem)
    const loop = async () => Number(await firstLine(startChild('plain-loop', port, String(loopCount), pem)))
    const anchor = 'nodemailer, build, sign, send in a loop'
    return [await compare({ name: 'queue to SMTP sink, 2 kB, DKIM', anchor, wanted: 5 }, engine, loop)]
  })
}

const early = 10_000

export function memoryFigure(after: string, samples: Sample[]): Figure {
  const [measured, anchorMeasured] = [samples.at(-1), samples.find(({ sent }) => sent >= early)].map(
    (sample) => (sample?.rss ?? 0) / 1e6,
  ) as [number, number]
  const ratio = measured / anchorMeasured
  return {
    ...{ name: `memory after ${after}, MB`, anchor: 'after 10,000' },
    ...{ measured, anchorMeasured, ratio, wanted: 0.8, atMost: 1.2 },
  }
}

/** The memory of the sending process after ten thousand messages and after very many. */
export function benchMemory(): Promise<Figure[]> {
  const count = Number(process.env.BENCH_MEMORY_MESSAGES ?? 500_000)
  return withPlace(async (url, port) => {
    await fillQueue(url, count)
    return [
      memoryFigure(
        `${count.toLocaleString('en')} messages`,
        await runEngine('engine', url, port, String(count)),
      ),
    ]
  })
}
