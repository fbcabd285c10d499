// The SMS part of OVH's interface, with its signature and its clock.
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export const ovhKeys = {
  OVH_APPLICATION_KEY: 'application',
  OVH_APPLICATION_SECRET: 'application-secret',
  OVH_CONSUMER_KEY: 'consumer',
}

export type OvhJob = {
  id: number
  sender: string
  receivers: string[]
  message: string
  coding: string
  noStopClause: boolean
  validityPeriod?: number
}

export type OvhFailure = { status: number; message: string } | 'invalid-number' | 'drop'

type State = { jobs: OvhJob[]; failures: OvhFailure[]; base: string; now: () => Date }

export async function startOvhSms(now: () => Date, service = 'sms-ab12345-1') {
  const state: State = { jobs: [], failures: [], base: '', now }
  const server = createServer((request, reply) => void answer(state, service, request, reply))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  state.base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/1.0`
  return {
    endpoint: state.base,
    service,
    jobs: state.jobs,
    fail: (...more: OvhFailure[]) => void state.failures.push(...more),
    close: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

async function answer(state: State, service: string, request: IncomingMessage, reply: ServerResponse) {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks).toString()
  const say = (status: number, told: unknown) =>
    void reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(told))
  const route = `${request.method} ${request.url}`
  if (route === 'GET /1.0/auth/time') return say(200, theirTime(state))
  if (!isSigned(state, request, body))
    return say(400, { errorCode: 'INVALID_SIGNATURE', message: 'Invalid signature' })
  if (route === `GET /1.0/sms/${service}`) return say(200, { name: service, creditsLeft: 10 })
  if (route !== `POST /1.0/sms/${service}/jobs`) return say(404, { message: 'This service does not exist' })
  const failure = state.failures.shift()
  const job: OvhJob = { ...JSON.parse(body), id: 27_814_656 + state.jobs.length }
  if (failure === 'invalid-number')
    return say(200, { totalCreditsRemoved: 0, invalidReceivers: job.receivers, validReceivers: [], ids: [] })
  if (typeof failure === 'object') return say(failure.status, { message: failure.message })
  state.jobs.push(job)
  if (failure === 'drop') return void request.socket.destroy()
  say(200, { totalCreditsRemoved: 1, invalidReceivers: [], validReceivers: job.receivers, ids: [job.id] })
}

/** Its clock is an hour ahead of ours. */
const theirTime = ({ now }: State) => Math.round(now().getTime() / 1000) + 3_600

function isSigned(state: State, { method, url, headers }: IncomingMessage, body: string): boolean {
  const timestamp = String(headers['x-ovh-timestamp'])
  const address = `${state.base}${url?.replace(/^\/1\.0/, '')}`
  const parts = [ovhKeys.OVH_APPLICATION_SECRET, ovhKeys.OVH_CONSUMER_KEY, method, address, body, timestamp]
  const expected = `$1$${createHash('sha1').update(parts.join('+')).digest('hex')}`
  return (
    headers['x-ovh-signature'] === expected &&
    headers['x-ovh-application'] === ovhKeys.OVH_APPLICATION_KEY &&
    headers['x-ovh-consumer'] === ovhKeys.OVH_CONSUMER_KEY &&
    Math.abs(Number(timestamp) - theirTime(state)) < 60
  )
}
