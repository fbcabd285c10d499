// Where upstreams report what became of SMS. No key: each report is verified as its provider allows.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { recordReports, type SmsFeedback } from '../../features/sms/record-reports.ts'
import type { Gates } from '../../gates/gates.ts'

type Query = Record<string, string | undefined>

/** Each gives what is to be recorded, or null for nothing; refuses what cannot be trusted. */
export type SmsHooks = {
  sns(body: Buffer, now: Date): Promise<SmsFeedback | null>
  ovh(token: string, query: Query, now: Date): Promise<SmsFeedback | null>
}

export type SmsHookNeeds = { gates: Gates; smsHooks: SmsHooks }

const largestBody = 256 * 1024

export async function serveSmsHooks(app: FastifyInstance, { gates, smsHooks }: SmsHookNeeds): Promise<void> {
  const record = async (reply: FastifyReply, read: Promise<SmsFeedback | null>) => {
    const feedback = await read
    if (feedback) await recordReports(gates, feedback)
    return reply.code(200).send()
  }
  const ovh = async (request: FastifyRequest, reply: FastifyReply) => {
    const { token } = request.params as { token: string }
    const body = new URLSearchParams(Buffer.isBuffer(request.body) ? request.body.toString() : '')
    const given = { ...(request.query as object), ...Object.fromEntries(body) }
    return record(reply, smsHooks.ovh(token, textsIn(given), gates.now()))
  }
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    // Signatures are over the octets as they came; and SNS announces its JSON as plain text.
    scope.addContentTypeParser(
      /^(text\/plain|application\/json|application\/x-www-form-urlencoded)\s*(;|$)/i,
      { parseAs: 'buffer' },
      async (_request: unknown, raw: Buffer) => raw,
    )
    scope.post<{ Body: Buffer | undefined }>('/hooks/sns-sms', { bodyLimit: largestBody }, (request, reply) =>
      record(reply, smsHooks.sns(request.body ?? Buffer.alloc(0), gates.now())),
    )
    scope.get('/hooks/ovh-sms/:token', ovh)
    scope.post('/hooks/ovh-sms/:token', { bodyLimit: largestBody }, ovh)
  })
}

function textsIn(given: object): Query {
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  )
}
