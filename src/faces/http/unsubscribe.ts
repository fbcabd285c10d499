// The routes of the hosted pages; what they say and do stands in faces/pages.
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { FindUnsubscribeKeys } from '../../features/contacts/unsubscribe/tokens.ts'
import type { FindOptinKeys } from '../../features/transactional/double-optin/tokens.ts'
import type { Gates } from '../../gates/gates.ts'
import { asRefusal } from '../../gates/reply.ts'
import { statusOf } from '../../kernel/refusal.ts'
import type { PageAnswer } from '../pages/html.ts'
import { answerFailed, answerPage, largestForm, pageNames } from '../pages/pages.ts'
import { refusalOfFramework } from './errors.ts'
import { form } from './routes.ts'

export type UnsubscribeNeeds = {
  gates: Gates
  unsubscribeKeys: FindUnsubscribeKeys
  optinKeys: FindOptinKeys
}

type PageRoute = { Params: { token: string }; Body: Buffer | undefined }

export async function serveUnsubscribe(
  app: FastifyInstance,
  { gates, unsubscribeKeys, optinKeys }: UnsubscribeNeeds,
) {
  const needs = { db: gates.db, now: gates.now, findKeys: unsubscribeKeys, findOptinKeys: optinKeys }
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, raw: Buffer) => raw)
    // Whatever a mail program calls its body, the framework must not refuse it.
    scope.addHook('onRequest', async ({ headers }) => {
      if (headers['content-type'] !== undefined && !form.test(headers['content-type']))
        headers['content-type'] = 'application/octet-stream'
    })
    scope.setErrorHandler(async (error: FastifyError, request, reply) => {
      const refusal =
        refusalOfFramework(error, request) ?? asRefusal(error, gates.log, { requestId: request.id })
      request.refusedWith = refusal.code
      return sendPage(reply, answerFailed(request.headers, statusOf(refusal.declaration.kind, 'own')))
    })
    for (const page of pageNames) {
      scope.route<PageRoute>({
        method: ['GET', 'POST'],
        url: `/${page}/:token`,
        bodyLimit: largestForm,
        handler: async ({ method, url, params, ip, headers, body }, reply) => {
          const isSlashed = /^[^?]*\/(\?|$)/.test(url)
          const asked = {
            page,
            token: bare(params.token),
            isSlashed,
            isPost: method === 'POST',
            ip,
            headers,
            body,
          }
          return sendPage(reply, await answerPage(needs, asked))
        },
      })
    }
  })
}

/** In a message of text alone, programs take the bracket or the stop behind an address for a part of it. */
export const bare = (token: string) => /^[\w.-]*[\w-]/.exec(token)?.[0] ?? token

/** A mutilated link may match no route, and still a person follows it. */
export const isOfPage = (request: FastifyRequest) =>
  pageNames.some((name) => request.url.startsWith(`/${name}/`)) ||
  (/^\/(t|mirror)\//.test(request.url) && isReader(request))

/** Programs follow these links too, and say what they take. */
export const isReader = ({ headers }: FastifyRequest) => /\btext\/html\b/i.test(headers.accept ?? '')

export function sendPage(reply: FastifyReply, { status, headers, body }: PageAnswer): FastifyReply {
  return reply.code(status).headers(headers).send(body)
}
