import { Type } from 'typebox'
import { showId } from '../../kernel/id.ts'
import { operation } from '../../kernel/operation.ts'
import { prepared } from '../../kernel/prepared.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { closed, orNull, Time, words } from '../../kernel/schema.ts'
import {
  dailyCapReached,
  monthlyQuotaReached,
  senderDomainNotAllowed,
  senderUnverified,
} from '../accounts/usage/refusals.ts'
import { type Outgoing, queueMessages } from '../messages/queue-messages.ts'
import {
  contentMissing,
  recipientInvalid,
  recipientSuppressed,
  templateInvalid,
} from '../messages/refusals.ts'
import { type AttachedFiles, fetchFilesOfOne } from './attached-file.ts'
import { prepareSend, readSend } from './prepare-send.ts'
import { maxSendBytes, octetsOf, SendRequest, secretFields } from './send-request.ts'
import type { FetchAttachment } from './v3/attachments.ts'

const attached = prepared<AttachedFiles>()

export const sendTransactional = ({ fetchAttachment }: { fetchAttachment: FetchAttachment }) =>
  operation({
    name: 'email.send',
    http: 'POST /api/v1/transactional/send',
    area: 'Transactional',
    summary: 'Queue one message',
    description:
      'Accepted is not delivered: GET /api/v1/messages/{id} tells what became of it. While it waits, for its ' +
      'scheduled_at, its turn or held, it can be taken back: POST /api/v1/messages/{id}/cancel (email.cancel).',
    scope: 'email.send',
    effect: 'irreversible',
    perMinute: 60,
    idempotent: true,
    body: SendRequest,
    maxBodyBytes: maxSendBytes,
    findFaults: async (ctx, body, faulty) => (await readSend(ctx, body, faulty)).refusals,
    prepare: async (ctx, input) =>
      attached.put(input, await fetchFilesOfOne(ctx, fetchAttachment, input.body.template_id)),
    weigh: ({ body }) => octetsOf(body),
    secret: secretFields,
    status: 202,
    reply: closed({
      id: Type.String(),
      status: words(['queued']),
      to: Type.String(),
      tag: orNull(Type.String()),
      created_at: Time,
      scheduled_at: orNull(Time),
      message_id: Type.String(),
    }),
    refusals: [
      contentMissing,
      recipientInvalid,
      recipientSuppressed,
      templateInvalid,
      senderDomainNotAllowed,
      senderUnverified,
      dailyCapReached,
      monthlyQuotaReached,
    ],
  }).runTogether(async (db, calls) => {
    const made = await Promise.all(
      calls.map(({ ctx, input }) => refusalOr(prepareSend(ctx, input.body, attached.take(input)))),
    )
    const outgoing = made.filter((one): one is Outgoing => !(one instanceof Refusal))
    const queued = await queueMessages(db, outgoing)
    const results = new Map(outgoing.map((one, i) => [one, queued[i]]))
    return made.map((one) => {
      const result = one instanceof Refusal ? one : results.get(one)
      if (!result) throw new Error('a message was neither queued nor refused')
      if (result instanceof Refusal) return result
      const { id, outgoing: sent } = result
      return {
        id: showId('msg', id),
        status: 'queued' as const,
        to: sent.recipient.email,
        tag: sent.tags[0] ?? null,
        created_at: sent.now.toISOString(),
        scheduled_at: sent.scheduledAt?.toISOString() ?? null,
        message_id: sent.messageId,
      }
    })
  })

async function refusalOr<T>(work: Promise<T>): Promise<T | Refusal> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}
