// The service with an upstream of its own on loopback, and the way its feedback comes in.
import assert from 'node:assert/strict'
import { captureTransport } from '../../src/features/messages/capture.ts'
import { runOnce } from '../../src/kernel/job.ts'
import { silentLog } from '../../src/kernel/log.ts'
import type { Transport } from '../../src/kernel/ports.ts'
import { readConfig } from '../../src/main/config.ts'
import { jobsFor } from '../../src/main/jobs.ts'
import { openTransport } from '../../src/main/transports.ts'
import { type App, makeApp, type Reply } from '../app.ts'
import { until } from '../until.ts'

export type Upstream = {
  app: App
  /** Addresses that were asked of the outside: certificates, confirmations. */
  asked: string[]
  /** Sends a message and waits until the upstream has it. */
  send(to: string, key?: string): Promise<string>
  post(notification: string, type?: string): Promise<Reply>
  message(id: string, key?: string): Promise<Reply['body']>
  reaches(id: string, status: string): Promise<Reply['body']>
  suppression(email: string, key?: string): Promise<Reply['body']>
  /** Works off what is to be told to the upstream. */
  workOff(): Promise<void>
  close(): Promise<void>
}

type Options = { hook: string; env: Record<string, string>; download: (url: string) => Promise<string> }

export async function withUpstream({ hook, env, download }: Options): Promise<Upstream> {
  const asked: string[] = []
  const request = async ({ url }: { url: string }) => {
    asked.push(url)
    const text = /ConfirmSubscription/.test(url) ? 'confirmed' : await download(url)
    return { status: 200, headers: {}, body: Buffer.from(text) }
  }
  const settings = { POSTHORN_RETRY_FACTOR: '0.001', POSTHORN_RATE_LIMIT_FACTOR: '100', ...env }
  const app = await makeApp({ deliver: true, env: settings, hookClient: { request } })
  const now = () => new Date()
  const { db } = app.pools
  const transport = await openTransport(readConfig(settings), captureTransport(db, now))
  const acts = actsOn(app)
  return {
    app,
    asked,
    ...acts,
    post: (raw, type = 'text/plain; charset=UTF-8') =>
      app.call('POST', `/hooks/${hook}`, { key: null, raw, headers: { 'content-type': type } }),
    workOff: () => workOff(app, transport),
    close: () => transport.close(),
  }
}

function actsOn(app: App) {
  const message = async (id: string, key = app.key) =>
    (await app.call('GET', `/api/v1/messages/${id}`, { key })).body
  const reaches = (id: string, status: string, key = app.key) =>
    until(async () => {
      const found = await message(id, key)
      return found.status === status && found
    }, `${id} to be ${status}`)
  return {
    message,
    reaches,
    async send(to: string, key = app.key) {
      const body = { from: 'shop@sender.example', to, subject: 'Your order 1234', text: 'Thank you for it.' }
      const { status, body: sent } = await app.call('POST', '/api/v1/transactional/send', { key, body })
      assert.equal(status, 202)
      await reaches(sent.id, 'sent', key)
      return String(sent.id)
    },
    suppression: async (email: string, key = app.key) =>
      (await app.call('GET', `/api/v1/suppressions?email=${email}`, { key })).body.data[0],
  }
}

async function workOff({ pools }: App, transport: Transport): Promise<void> {
  const outside = { baseUrl: 'http://test', unsubscribeKeys: async () => [] }
  const needs = { transport, log: silentLog, now: () => new Date(), wake: () => {}, ...outside }
  const job = jobsFor(needs).find(({ name }) => name === 'suppressions.upstream')
  assert.ok(job)
  await runOnce(job, { db: pools.db, now: () => new Date() })
}
