// The interface describing itself: OpenAPI, the documentation page, the text for language models, agent tools.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { admitAnyKey } from '../../gates/admit.ts'
import type { Gates } from '../../gates/gates.ts'
import { type Caller, nobody } from '../../kernel/ctx.ts'
import type { Operation } from '../../kernel/operation.ts'
import { openMcp } from '../mcp/mcp.ts'
import { openapiDocument, openapiOf } from '../openapi/document.ts'
import { llmsText } from '../openapi/llms.ts'
import { roomForBody } from './large-bodies.ts'
import { callOf } from './routes.ts'

export type PageNeeds = { gates: Gates; operations: Operation[]; version: string; baseUrl: string }

export async function servePages(app: FastifyInstance, needs: PageNeeds): Promise<void> {
  const document = openapiDocument(needs.operations, needs)
  const text = JSON.stringify(document)
  app.get<{ Querystring: { operation?: string | string[] } }>('/openapi.json', async ({ query }, reply) => {
    const [one] = [query.operation ?? []].flat()
    const shown = one === undefined ? text : JSON.stringify(openapiOf(needs.operations, one, needs))
    return reply.type('application/json; charset=utf-8').send(shown)
  })
  const llms = llmsText(needs.operations, needs)
  app.get('/llms.txt', (_request, reply) => reply.type('text/plain; charset=utf-8').send(llms))
  app.get('/', (_request, reply) => reply.redirect('/docs'))
  serveMcp(app, needs)
  await serveDocs(app, document)
}

// Nothing from outside; styles inline because the page's own script writes them.
const docsPolicy = [
  "default-src 'self'",
  "img-src 'self' data:",
  "style-src 'self' 'unsafe-inline'",
  "base-uri 'none'",
  "object-src 'none'",
  "frame-ancestors 'none'",
].join('; ')

async function serveDocs(app: FastifyInstance, document: object): Promise<void> {
  const [{ default: swagger }, { default: swaggerUi }] = await Promise.all([
    import('@fastify/swagger'),
    import('@fastify/swagger-ui'),
  ])
  await app.register(swagger, { mode: 'static', specification: { document: document as never } })
  await app.register(async (scope) => {
    scope.addHook('onSend', async (_request, reply, page) =>
      typeof page === 'string' && /^text\/html/.test(String(reply.getHeader('content-type')))
        ? forEveryReader(page)
        : page,
    )
    await scope.register(swaggerUi, {
      routePrefix: '/docs',
      uiConfig: { docExpansion: 'list', validatorUrl: null, persistAuthorization: true, filter: true },
      theme: {
        title: 'Posthorn API',
        css: [{ filename: 'posthorn.css', content: '.swagger-ui .topbar { display: none }' }],
      },
      staticCSP: docsPolicy,
    })
  })
}

const withoutScript =
  '<noscript><p>This page needs JavaScript. The same is in <a href="/openapi.json">/openapi.json</a> and, as text, ' +
  'in <a href="/llms.txt">/llms.txt</a>.</p></noscript>'

/** What the library's page lacks: the width of telephones, and a word to whoever runs no scripts. */
function forEveryReader(page: string): string {
  return page
    .replace('<head>', '<head>\n<meta name="viewport" content="width=device-width, initial-scale=1">')
    .replace('<body>', `<body>\n${withoutScript}`)
}

function serveMcp(app: FastifyInstance, needs: PageNeeds): void {
  const answerMcp = openMcp(needs)
  const callers = new WeakMap<FastifyRequest, Caller>()
  app.route({
    // Those that the protocol does not have are refused in its words.
    method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    url: '/mcp',
    bodyLimit: Math.max(...needs.operations.map(({ maxBodyBytes }) => maxBodyBytes)),
    // As of every operation: strangers do not have large bodies read and parsed.
    onRequest: async (request, reply) => {
      const { caller } = await admitAnyKey(needs.gates, callOf(request))
      callers.set(request, caller)
      await roomForBody(needs.gates, { request, reply, caller })
    },
    handler: async (request, reply) => {
      const { scopes } = callers.get(request) ?? nobody
      reply.hijack()
      reply.raw.setHeader('x-request-id', request.id)
      const { raw, body } = request
      await answerMcp({ call: callOf(request), scopes, raw, body }, reply.raw)
    },
  })
}
