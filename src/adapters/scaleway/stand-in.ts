// Scaleway Transactional Email as far as we use it, on loopback, with its limits and its failures.
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ApiEmail } from './take-apart.ts'

/** What the next request meets. `drop`: the connection breaks after the request was read. */
export type ScalewayFailure =
  | { status: number; type: string; message: string; headers?: Record<string, string> }
  | 'hang'
  | 'drop'

export type BlocklistEntry = { id: string; domain_id: string; email: string; type: string }

export type ScalewayStandIn = {
  endpoint: string
  region: string
  projectId: string
  secretKey: string
  sent: (ApiEmail & { id: string })[]
  domains: ScalewayDomain[]
  blocklists: BlocklistEntry[]
  requests: string[]
  fail(...failures: ScalewayFailure[]): void
  close(): Promise<void>
}

export type ScalewayDomain = {
  id: string
  name: string
  status: string
  project_id: string
  records?: Record<string, { name: string; value: string }>
}

type State = Omit<ScalewayStandIn, 'endpoint' | 'fail' | 'close'> & { failures: ScalewayFailure[] }

export async function startScalewayStandIn(): Promise<ScalewayStandIn> {
  const projectId = randomUUID()
  const state: State = {
    region: 'fr-par',
    projectId,
    secretKey: randomUUID(),
    sent: [],
    domains: [{ id: randomUUID(), name: 'sender.example', status: 'checked', project_id: projectId }],
    blocklists: [],
    requests: [],
    failures: [],
  }
  const server = createServer((request, reply) => void answer(state, request, reply))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    ...state,
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fail: (...failures) => void state.failures.push(...failures),
    close: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

type Reply = { status: number; body: unknown; headers?: Record<string, string> }

const refusal = (status: number, type: string, message: string): Reply => ({
  status,
  body: { type, message },
})

async function answer(state: State, request: IncomingMessage, reply: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  state.requests.push(`${request.method} ${request.url}`)
  const failure = state.failures.shift()
  if (failure === 'hang') return
  if (failure === 'drop') return void request.socket.destroy()
  const failed = failure && {
    ...refusal(failure.status, failure.type, failure.message),
    headers: failure.headers,
  }
  const { status, body, headers } = failed ?? route(state, request, Buffer.concat(chunks))
  reply.writeHead(status, { 'content-type': 'application/json', ...headers })
  reply.end(body === undefined ? '' : JSON.stringify(body))
}

function route(state: State, request: IncomingMessage, body: Buffer): Reply {
  const url = new URL(request.url ?? '', 'http://stand-in')
  const base = `/transactional-email/v1alpha1/regions/${state.region}/`
  const [what, id, act] = url.pathname.slice(base.length).split('/')
  if (!url.pathname.startsWith(base)) return refusal(404, 'unknown_resource', 'no such path')
  if (request.headers['x-auth-token'] !== state.secretKey) {
    return refusal(401, 'denied_authentication', 'authentication is denied')
  }
  if (request.method === 'POST' && what === 'emails') return takeEmail(state, body)
  if (request.method === 'DELETE' && what === 'blocklists') return deleteEntry(state, id ?? '')
  if (request.method === 'POST' && what === 'domains') return takeDomain(state, { id, act }, body)
  if (request.method === 'GET' && what === 'domains') {
    const { searchParams } = url
    return page(
      'domains',
      state.domains.filter((each) => each.project_id === searchParams.get('project_id')),
      url,
    )
  }
  if (request.method === 'GET' && what === 'blocklists') {
    const wanted = (entry: BlocklistEntry) =>
      entry.domain_id === url.searchParams.get('domain_id') &&
      entry.email.includes(url.searchParams.get('email') ?? '')
    return page('blocklists', state.blocklists.filter(wanted), url)
  }
  return refusal(404, 'unknown_resource', 'no such path')
}

function page(name: string, all: unknown[], { searchParams }: URL): Reply {
  const size = Number(searchParams.get('page_size') ?? 20)
  const first = (Number(searchParams.get('page') ?? 1) - 1) * size
  return { status: 200, body: { total_count: all.length, [name]: all.slice(first, first + size) } }
}

function takeEmail(state: State, body: Buffer): Reply {
  if (body.length > 2_000_000) return refusal(413, 'invalid_arguments', 'the email is too large')
  const email: ApiEmail = JSON.parse(body.toString())
  const domain = email.from.email.split('@')[1]
  if (!state.domains.some(({ name, status }) => name === domain && status === 'checked')) {
    return refusal(403, 'permissions_denied', 'the domain is not checked')
  }
  const wrong = [
    ['subject', email.subject.length < 10],
    ['text', email.text !== undefined && email.text.length < 10],
    ['html', email.html !== undefined && email.html.length < 10],
    ['attachments', email.attachments.length > 10],
    ['to', email.to.length === 0 || email.to.length > 10],
  ].filter(([, isWrong]) => isWrong)
  if (wrong.length > 0) {
    const details = wrong.map(([name]) => ({ argument_name: name, reason: 'constraint' }))
    return { status: 400, body: { type: 'invalid_arguments', message: 'invalid argument(s)', details } }
  }
  const id = randomUUID()
  state.sent.push({ ...email, id })
  const emails = email.to.map((to) => ({ id, message_id: randomUUID(), mail_rcpt: to.email, status: 'new' }))
  return { status: 200, body: { emails } }
}

/** Creates one, revokes it, or looks at it again, which changes nothing here. */
function takeDomain(state: State, { id, act }: { id?: string; act?: string }, body: Buffer): Reply {
  const known = state.domains.find((one) => one.id === id)
  if (known && act === 'revoke') known.status = 'revoked'
  if (id !== undefined) return { status: 200, body: known }
  const { project_id, domain_name: name } = JSON.parse(body.toString())
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
  const records = {
    dkim: { name: `${project_id}._domainkey.${name}.`, value: `v=DKIM1; h=sha256; k=rsa; p=${key}` },
    spf: { name: `${name}.`, value: 'v=spf1 include:_spf.tem.scaleway.com -all' },
    dmarc: { name: `_dmarc.${name}.`, value: 'v=DMARC1; p=none' },
    mx: { name: `${name}.`, value: '10 blackhole.tem.scaleway.com.' },
  }
  const made = { id: randomUUID(), name, status: 'unchecked', project_id, records }
  state.domains.push(made)
  return { status: 200, body: made }
}

function deleteEntry(state: State, id: string): Reply {
  const at = state.blocklists.findIndex((entry) => entry.id === id)
  if (at < 0) return refusal(404, 'not_found', 'resource is not found')
  state.blocklists.splice(at, 1)
  return { status: 204, body: undefined }
}
