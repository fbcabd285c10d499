import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import Fastify, {
  type FastifyError,
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { recordRefusal } from '../../gates/audit.ts'
import type { Gates } from '../../gates/gates.ts'
import { asRefusal } from '../../gates/reply.ts'
import { parseJson } from '../../kernel/json.ts'
import type { Operation } from '../../kernel/operation.ts'
import { pathUnknown } from '../../kernel/refusals.ts'
import { answerMissing } from '../pages/pages.ts'
import { allowOrigins } from './cors.ts'
import { refusalOfFramework, refuseEncoded, sendRefusal } from './errors.ts'
import { serveExports } from './exports.ts'
import { type HookFaceNeeds, serveHooks } from './hooks.ts'
import { logRequests } from './log-requests.ts'
import { type MediaFaceNeeds, serveMedia } from './media.ts'
import { serveMirror } from './mirror.ts'
import { type PageNeeds, servePages } from './pages.ts'
import { type ProbeNeeds, serveProbes } from './probes.ts'
import { answerBrokenRequest } from './raw-errors.ts'
import { requestIdOf } from './request-id.ts'
import { bindOperations } from './routes.ts'
import { type SmsHookNeeds, serveSmsHooks } from './sms-hooks.ts'
import { serveTracking, type TrackingFaceNeeds } from './tracking.ts'
import { isOfPage, sendPage, serveUnsubscribe, type UnsubscribeNeeds } from './unsubscribe.ts'
import { bindUploads } from './uploads.ts'

export type HttpNeeds = PageNeeds &
  ProbeNeeds &
  HookFaceNeeds &
  SmsHookNeeds &
  TrackingFaceNeeds &
  MediaFaceNeeds &
  UnsubscribeNeeds & { operations: Operation[]; trustedProxies: number }

export type HttpFace = {
  /** Gives the port, which differs from the asked one when that is 0. */
  listen(host: string, port: number): Promise<number>
  /** Stops accepting, lets what is under way finish. */
  close(): Promise<void>
}

export async function openHttp(needs: HttpNeeds): Promise<HttpFace> {
  const app = await assemble(needs)
  return {
    listen: async (host, port) => {
      await app.listen({ host, port })
      return (app.server.address() as AddressInfo).port
    },
    close: async () => {
      const limit = setTimeout(() => app.server.closeAllConnections(), patienceMs)
      await app.close()
      clearTimeout(limit)
    },
  }
}

// For requests under way when the service stops; a client that never finishes its own must not hold the rest up.
const patienceMs = 5_000

async function assemble(needs: HttpNeeds): Promise<FastifyInstance> {
  const app = Fastify({
    logger: false,
    genReqId: (request) => requestIdOf(request.headers['x-request-id']),
    trustProxy: needs.trustedProxies || false,
    requestTimeout: 120_000,
    // Ends idle keep-alive connections on close; closeGently sees to the busy ones.
    forceCloseConnections: 'idle',
    // What still arrives over an open connection is answered like any other request.
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 9_000 },
    frameworkErrors: (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
      if (isOfPage(request)) return sendPage(reply, answerMissing(request.headers))
      return sendRefusal(
        request,
        reply,
        refusalOfFramework(error, request) ?? asRefusal(error, needs.gates.log, {}),
      )
    },
    clientErrorHandler: answerBrokenRequest,
  } as FastifyHttpOptions<Server>)
  ignoreExpectations(app)
  readJsonOnly(app)
  closeGently(app)
  allowOrigins(app)
  answerErrors(app, needs.gates)
  logRequests(app, needs)
  bindOperations(app, needs.gates, needs.operations)
  leaveOut(app)
  await bindUploads(app, needs.gates, needs.operations)
  serveProbes(app, needs)
  serveTracking(app, needs)
  serveExports(app, needs)
  serveMedia(app, needs)
  await serveHooks(app, needs)
  await serveSmsHooks(app, needs)
  await serveUnsubscribe(app, needs)
  await serveMirror(app, needs)
  await servePages(app, needs)
  return app
}

/** Resources of the provider that there are not here, where an identifier of ours would be read instead. */
function leaveOut(app: FastifyInstance): void {
  for (const path of ['/v3/contacts/consent-groups', '/v3/webhooks/export'])
    app.all(path, (_request, reply) => reply.callNotFound())
}

// Node itself answers an Expect that it does not know, with nothing: such a request is one like any other.
function ignoreExpectations(app: FastifyInstance): void {
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
}

function readJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  // Some clients announce JSON and send nothing.
  app.addContentTypeParser(
    /^application\/([a-z0-9.+-]+\+)?json\s*(;|$)/i,
    { parseAs: 'buffer' },
    async (request: FastifyRequest, raw: Buffer) => {
      if (raw.length === 0) return undefined
      refuseEncoded(request)
      return parseJson(raw)
    },
  )
}

// A client that keeps its connection alive would hold close() open for ever; from now on each answer ends its own.
function closeGently(app: FastifyInstance): void {
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
  })
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isClosing) reply.header('connection', 'close')
    done()
  })
}

function answerErrors(app: FastifyInstance, gates: Gates): void {
  app.setErrorHandler(async (error: FastifyError, request, reply) => {
    const refusal =
      refusalOfFramework(error, request) ?? asRefusal(error, gates.log, { requestId: request.id })
    request.refusedWith = refusal.code
    // What was refused between the gates, while the body was read, has no line yet.
    if (request.admission && !request.isPerforming) await recordRefusal(gates, request.admission, refusal, {})
    return sendRefusal(request, reply, refusal)
  })
  app.setNotFoundHandler((request, reply) => {
    if (isOfPage(request)) return sendPage(reply, answerMissing(request.headers))
    request.refusedWith = pathUnknown.declaration.code
    return sendRefusal(request, reply, pathUnknown())
  })
}
