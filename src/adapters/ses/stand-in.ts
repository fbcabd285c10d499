// Amazon SES v2 as far as we use it, on loopback, with the failures that the real one has.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type SentEmail = {
  messageId: string
  raw: string
  recipients: string[]
  tags: Record<string, string>
  configurationSet: string | null
  fromEmailAddress: string | null
}

/** What the next request meets. `drop`: the connection breaks after the request was read. */
type Refused = { status: number; name: string; message: string }
/** `html`: the page of a gateway in between. `stall`: the answer begins and does not go on. */
export type SesFailure = Refused | { status: number; html: string } | 'hang' | 'drop' | 'stall'

export type SesStandIn = {
  endpoint: string
  sent: SentEmail[]
  suppressed: Set<string>
  /** Sending domains, as Amazon shows them. */
  identities: Map<string, SesIdentity>
  account: { SendingEnabled: boolean; EnforcementStatus: string; SendQuota: Record<string, number> }
  /** Method and path of every request. */
  requests: string[]
  fail(...failures: SesFailure[]): void
  close(): Promise<void>
}

export type SesIdentity = {
  DkimAttributes: { Status: string; Tokens: string[]; SigningHostedZone: string }
  MailFromAttributes?: { MailFromDomain: string }
}

type State = Omit<SesStandIn, 'endpoint' | 'fail' | 'close'> & { failures: SesFailure[] }

const suppressionPath = '/v2/email/suppression/addresses/'
const identityPath = '/v2/email/identities'

export async function startSesStandIn(): Promise<SesStandIn> {
  const state: State = {
    sent: [],
    suppressed: new Set(),
    identities: new Map(),
    account: {
      SendingEnabled: true,
      EnforcementStatus: 'HEALTHY',
      SendQuota: { Max24HourSend: 50_000, MaxSendRate: 14, SentLast24Hours: 120 },
    },
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

async function answer(state: State, request: IncomingMessage, reply: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const url = request.url ?? ''
  const route = `${request.method} ${url}`
  state.requests.push(route)
  const failure = state.failures.shift()
  if (failure === 'hang') return
  if (failure === 'drop') return void request.socket.destroy()
  if (failure === 'stall') return void reply.writeHead(200, { 'content-length': 60 }).write('{"Mess')
  if (failure !== undefined && 'html' in failure)
    return void reply.writeHead(failure.status, { 'content-type': 'text/html' }).end(failure.html)
  if (failure !== undefined) return refuse(reply, failure)
  if (!/^AWS4-HMAC-SHA256 /.test(request.headers.authorization ?? '')) {
    const name = 'MissingAuthenticationTokenException'
    return refuse(reply, { status: 403, name, message: 'Missing Authentication Token' })
  }
  if (route === 'POST /v2/email/outbound-emails') return take(state, Buffer.concat(chunks).toString(), reply)
  if (route === 'GET /v2/email/account') return succeed(reply, state.account)
  if (route.startsWith(`DELETE ${suppressionPath}`)) return unlist(state, url, reply)
  if (url.startsWith(identityPath)) {
    const { method = '' } = request
    return identify(state, { method, url, body: Buffer.concat(chunks) }, reply)
  }
  refuse(reply, { status: 404, name: 'UnknownOperationException', message: route })
}

function take(state: State, body: string, reply: ServerResponse): void {
  const { Content, Destination, EmailTags = [], ...rest } = JSON.parse(body)
  const messageId = `0102${String(state.sent.length + 1).padStart(12, '0')}-stand-in-000000`
  state.sent.push({
    messageId,
    raw: Buffer.from(Content.Raw.Data, 'base64').toString('latin1'),
    recipients: Object.values(Destination ?? {}).flat() as string[],
    tags: Object.fromEntries(EmailTags.map((tag: Record<string, string>) => [tag.Name, tag.Value])),
    configurationSet: rest.ConfigurationSetName ?? null,
    fromEmailAddress: rest.FromEmailAddress ?? null,
  })
  succeed(reply, { MessageId: messageId })
}

type Asked = { method: string; url: string; body: Buffer }

function identify(state: State, { method, url, body }: Asked, reply: ServerResponse): void {
  const [name = '', part] = url
    .slice(identityPath.length + 1)
    .split('/')
    .map(decodeURIComponent)
  const given = body.length > 0 ? JSON.parse(body.toString()) : {}
  const known = state.identities.get(name)
  if (method === 'POST') {
    const Tokens = [1, 2, 3].map((n) => `token${n}${given.EmailIdentity.replaceAll('.', '')}`)
    const DkimAttributes = { Status: 'PENDING', Tokens, SigningHostedZone: 'zone.dkim.stand-in.example' }
    state.identities.set(given.EmailIdentity, { DkimAttributes })
    succeed(reply, { IdentityType: 'DOMAIN', DkimAttributes })
    return
  }
  if (!known) {
    refuse(reply, { status: 404, name: 'NotFoundException', message: `${name} does not exist.` })
    return
  }
  if (method === 'DELETE') state.identities.delete(name)
  if (part === 'mail-from') known.MailFromAttributes = { MailFromDomain: given.MailFromDomain }
  succeed(reply, part === 'mail-from' ? {} : known)
}

function unlist(state: State, url: string, reply: ServerResponse): void {
  const address = decodeURIComponent(url.slice(suppressionPath.length))
  const message = `Email address ${address} does not exist on your suppression list.`
  if (state.suppressed.delete(address)) succeed(reply, {})
  else refuse(reply, { status: 404, name: 'NotFoundException', message })
}

function succeed(reply: ServerResponse, body: unknown): void {
  reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function refuse(reply: ServerResponse, { status, name, message }: Refused): void {
  const headers = { 'content-type': 'application/json', 'x-amzn-errortype': name }
  reply.writeHead(status, headers).end(JSON.stringify({ message }))
}
