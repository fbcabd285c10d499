// The route of a message as a page.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Mirror, readMirror } from '../../features/campaigns/mirror.ts'
import { recordVisit } from '../../features/campaigns/record-visit.ts'
import type { LinkSource } from '../../features/campaigns/send-test.ts'
import { testToken } from '../../features/messages/recipient-links.ts'
import type { Gates } from '../../gates/gates.ts'
import { asRefusal } from '../../gates/reply.ts'
import { statusOf } from '../../kernel/refusal.ts'
import { closedHeaders } from '../pages/html.ts'
import { mailPage } from '../pages/mail-page.ts'
import { answerFailed, answerMissing, answerTest } from '../pages/pages.ts'
import { refusalOfFramework } from './errors.ts'
import { visitOf } from './tracking.ts'
import { bare, sendPage } from './unsubscribe.ts'

export type MirrorNeeds = { gates: Gates } & LinkSource

// It is somebody else's HTML on our address: what a mail shows, and nothing that runs, sends or frames.
const policy = [
  "default-src 'none'",
  'img-src https: http: data:',
  'font-src https: data:',
  "style-src 'unsafe-inline' https:",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  'sandbox allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation',
].join('; ')

/** Only of a campaign's message is one kept; the reader gets the page whatever becomes of our note about it. */
async function keepVisit(gates: Gates, { of }: Mirror, request: FastifyRequest): Promise<void> {
  const { accountId, campaignId, messageId } = of
  if (campaignId === undefined || messageId === undefined) return
  const visit = visitOf(request, gates.now())
  await recordVisit(gates.db, { accountId, campaignId, messageId }, visit).catch((error) => {
    gates.log.error({ requestId: request.id, err: error }, 'a visit of a message was not recorded')
  })
}

export async function serveMirror(app: FastifyInstance, needs: MirrorNeeds): Promise<void> {
  const { gates } = needs
  await app.register(async (scope) => {
    scope.setErrorHandler(async (error: Error, request, reply) => {
      const refusal =
        refusalOfFramework(error as never, request) ?? asRefusal(error, gates.log, { requestId: request.id })
      request.refusedWith = refusal.code
      return sendPage(reply, answerFailed(request.headers, statusOf(refusal.declaration.kind, 'own')))
    })
    scope.get<{ Params: { token: string } }>('/mirror/:token', async (request, reply) => {
      if (request.params.token === testToken) return sendPage(reply, answerTest(request.headers))
      const mirror = await readMirror(gates.db, { ...needs, now: gates.now }, bare(request.params.token))
      if (!mirror) return sendPage(reply, answerMissing(request.headers))
      await keepVisit(gates, mirror, request)
      const headers = {
        ...closedHeaders,
        'content-security-policy': policy,
        'content-type': 'text/html; charset=utf-8',
      }
      return sendPage(reply, { status: 200, headers, body: mailPage(mirror) })
    })
  })
}
