// The pixel and the redirect behind tracked links. Neither needs a key; both know only what their token says.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { recordActivity, type Visit } from '../../features/messages/tracking/record-activity.ts'
import { readToken, type TrackingKeys, type TrackingToken } from '../../features/messages/tracking/tokens.ts'
import type { Gates } from '../../gates/gates.ts'
import { locationOf } from '../../kernel/location.ts'
import { databaseUnavailable, notFound } from '../../kernel/refusals.ts'
import { within } from '../../kernel/within.ts'
import { answerMissing } from '../pages/pages.ts'
import { isReader, sendPage } from './unsubscribe.ts'

export type TrackingFaceNeeds = { gates: Gates; trackingKeys: TrackingKeys }

type Named = { Params: { token: string } }

const pixel = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

export function serveTracking(app: FastifyInstance, { gates, trackingKeys }: TrackingFaceNeeds): void {
  const answer = async (request: FastifyRequest<Named>, reply: FastifyReply) => {
    const isImage = request.params.token.endsWith('.gif')
    const token = readToken(trackingKeys, request.params.token.replace(/\.gif$/, ''))
    // A mail that a program on the way has mutilated shows no broken image.
    if (!token && !isImage && isReader(request)) return sendPage(reply, answerMissing(request.headers))
    if (!token && !isImage) throw notFound({ message: 'This link is not one of ours.' })
    if (token) await keep(gates, token, request)
    reply.header('cache-control', 'no-store, private, max-age=0').header('referrer-policy', 'no-referrer')
    if (token?.kind !== 'click') return reply.type('image/gif').send(pixel)
    const location = locationOf(token.url)
    return location === undefined
      ? sendPage(reply, answerMissing(request.headers))
      : reply.redirect(location, 302)
  }
  app.get('/t/:token', answer)
  // Some scanners ask so first: a refusal would make the link look broken to them. Counted as a machine's.
  app.options('/t/:token', answer)
}

const longestWaitMs = 2_000

/** The reader gets the page whatever becomes of our note about it, and soon: a database may fall silent. */
async function keep(gates: Gates, token: TrackingToken, request: FastifyRequest): Promise<void> {
  const noted = recordActivity(gates.db, token, visitOf(request, gates.now())).catch((error) => {
    gates.log.error({ requestId: request.id, err: error }, 'an open or click was not recorded')
  })
  await within(longestWaitMs, noted, databaseUnavailable).catch(() => undefined)
}

const judgedHeaders = [
  'purpose',
  'sec-purpose',
  'x-purpose',
  'x-moz',
  'sec-fetch-dest',
  'sec-fetch-mode',
  'accept',
  'referer',
]

export function visitOf({ ip, method, headers }: FastifyRequest, at: Date): Visit {
  const judged = judgedHeaders.map((name) => [name, [headers[name]].flat()[0]])
  return { ip, method, userAgent: headers['user-agent'], headers: Object.fromEntries(judged), at }
}
