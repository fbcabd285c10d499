// A client as careful as the documentation asks: one Idempotency-Key a message, called again until it is answered.
import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import { faultKey } from './service.ts'
import type { Tally } from './tally.ts'

export type Answers = Map<number, number>

export type SendRun = {
  port: number
  tally: Tally
  prefix: string
  /** How many messages; and how many at a time. */
  count: number
  loops: number
  until?: () => boolean
}

/** Sends until all are accepted, or until told; counts the answers by status, lost connections under 0. */
export async function sendAll(run: SendRun, answers: Answers = new Map()): Promise<Answers> {
  const pool = new Pool(`http://127.0.0.1:${run.port}`, {
    connections: run.loops,
    headersTimeout: 30_000,
    bodyTimeout: 30_000,
  })
  const deadline = performance.now() + 120_000
  let next = 0
  const loop = async () => {
    while (next < run.count && !run.until?.()) {
      const recipient = `${run.prefix}-${next++}@example.org`
      for (;;) {
        const status = await post(pool, recipient).catch(() => 0)
        answers.set(status, (answers.get(status) ?? 0) + 1)
        if (status === 202) run.tally.accept(recipient)
        if (status >= 200 && status < 500 && status !== 409 && status !== 429) break
        if (performance.now() > deadline) throw new Error(`${recipient} was not answered in time`)
        await pause(50)
      }
    }
  }
  await Promise.all(Array.from({ length: run.loops }, loop))
  await pool.destroy()
  return answers
}

async function post(pool: Pool, recipient: string): Promise<number> {
  const { statusCode, body } = await pool.request({
    method: 'POST',
    path: '/api/v1/transactional/send',
    headers: { 'api-key': faultKey, 'content-type': 'application/json', 'idempotency-key': recipient },
    body: JSON.stringify({
      from: 'shop@example.com',
      to: recipient,
      subject: 'Your order',
      text: `Dear ${recipient}, thank you for your order.`,
    }),
  })
  await body.dump()
  return statusCode
}
