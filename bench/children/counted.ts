// An SMTP upstream that counts what it hands over. Prints a line of JSON after every few thousand messages: how many,
// how fast, the memory of this process. The first half warms it up: a newsletter takes longer than compiling does.
import { openSmtpTransport } from '../../src/adapters/smtp-transport/smtp-transport.ts'
import type { Transport } from '../../src/kernel/ports.ts'

export type Counted = {
  transport: Transport
  /** All of them are handed over. */
  done: Promise<void>
}

type Count = { port: string; count: number }

const reportedEvery = 10_000

export function openCounted({ port, count }: Count): Counted {
  const warmUp = Math.floor(count / 2)
  const upstream = openSmtpTransport({ url: `smtp://127.0.0.1:${port}?connections=20&messages=100000` })
  let [started, sent] = [0, 0]
  let finished = () => {}
  const done = new Promise<void>((resolve) => {
    finished = resolve
  })
  const report = () => {
    const rate = (sent - warmUp) / ((performance.now() - started) / 1000)
    process.stdout.write(`${JSON.stringify({ sent, rate, rss: process.memoryUsage.rss() })}\n`)
  }
  const transport: Transport = {
    ...upstream,
    async send(handover) {
      const outcome = await upstream.send(handover)
      if (outcome.kind !== 'accepted') throw new Error(`not accepted: ${JSON.stringify(outcome)}`)
      sent++
      if (sent === warmUp) started = performance.now()
      if (sent % reportedEvery === 0 || sent === count) report()
      if (sent === count) finished()
      return outcome
    },
  }
  return { transport, done }
}
