// Clients of the fleet: each says what it was promised, so that it can be held against what came of it.
import { setTimeout as pause } from 'node:timers/promises'
import nodemailer from 'nodemailer'
import { call, type Reply } from '../app.ts'
import { faultKey } from '../faults/service.ts'
import type { Tally } from '../faults/tally.ts'
import type { Seat } from './fleet.ts'

const urlOf = ({ port }: Seat) => `http://127.0.0.1:${port}`

/** Asks one API after the other until one answers; an unanswered request is asked again under the same key. */
export async function ask(
  apis: Seat[],
  method: string,
  path: string,
  given: { key?: string; body?: unknown; once?: string },
): Promise<Reply> {
  const headers: Record<string, string> = given.once ? { 'idempotency-key': given.once } : {}
  for (let turn = Math.floor(Math.random() * apis.length), tries = 0; tries < 600; turn++, tries++) {
    const api = apis[turn % apis.length] as Seat
    const reply = await call(urlOf(api), method, path, {
      ...given,
      key: given.key ?? faultKey,
      headers,
    }).catch(() => undefined)
    if (reply && reply.status < 500 && reply.body?.error?.code !== 'idempotency_in_progress') return reply
    await pause(50)
  }
  throw new Error(`${method} ${path} was not answered`)
}

export type Sends = { key?: string; prefix: string; count: number; loops: number; tally: Tally }

/** How many sends were accepted, and what the others were told. */
export async function sendOverHttp(apis: Seat[], { key, prefix, count, loops, tally }: Sends) {
  const refused: Record<string, number> = {}
  let [next, accepted] = [0, 0]
  const loop = async () => {
    while (next < count) {
      const to = `${prefix}-${next++}@example.org`
      const body = { from: 'shop@example.com', to, subject: 'Your order', text: `Dear ${to}, thank you.` }
      const reply = await ask(apis, 'POST', '/api/v1/transactional/send', { key, body, once: to })
      if (reply.status === 202) {
        accepted++
        tally.accept(to)
      } else refused[reply.body.error.code] = (refused[reply.body.error.code] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: loops }, loop))
  return { accepted, refused }
}

/** Each attempt has a recipient of its own: without an answer nobody knows whether the mail was taken. */
export async function sendOverSmtp(relay: Seat, { prefix, count, loops, tally }: Sends) {
  let [taken, attempts, failures] = [0, 0, 0]
  const loop = async () => {
    const open = () =>
      nodemailer.createTransport({
        host: '127.0.0.1',
        port: relay.port,
        auth: { user: 'apikey', pass: faultKey },
        tls: { rejectUnauthorized: false },
        pool: true,
        maxConnections: 1,
        maxMessages: 10_000,
      })
    let mailer = open()
    while (taken < count && attempts < count * 20) {
      const to = `${prefix}-${attempts++}@example.org`
      const sent = await mailer
        .sendMail({ from: 'shop@example.com', to, subject: 'Order', text: 'Hi.' })
        .catch(() => undefined)
      if (sent) {
        taken++
        tally.accept(to)
        continue
      }
      failures++
      mailer.close()
      await pause(100)
      mailer = open()
    }
    mailer.close()
  }
  await Promise.all(Array.from({ length: loops }, loop))
  return { taken, failures }
}

export type Granted = { sent: number; received: number }

/** Calls an operation with a limit through all APIs, until told; gives those that passed and how many got lost. */
export async function useUpLimit(apis: Seat[], path: string, until: () => boolean) {
  const passed: Granted[] = []
  let lost = 0
  const loop = async (api: Seat) => {
    while (!until()) {
      const sent = performance.now()
      const reply = await call(urlOf(api), 'GET', path, { key: faultKey }).catch(() => undefined)
      if (reply?.status === 200) passed.push({ sent, received: performance.now() })
      else if (!reply) lost++
      await pause(reply ? 20 : 100)
    }
  }
  await Promise.all([...apis, ...apis].map(loop))
  return { passed: passed.sort((a, b) => a.received - b.received), lost }
}

// The sliding minute is kept as sixty seconds, of which the first may be nearly over: it is never shorter than this.
const windowMs = 59_000

/** A minute in which more passed than may. */
export function excess(passed: Granted[], limit: number): Granted[] | undefined {
  const at = passed.findIndex((one, i) => {
    const next = passed[i + limit]
    return next !== undefined && next.received - one.sent < windowMs
  })
  return at < 0 ? undefined : passed.slice(at, at + limit + 1)
}
