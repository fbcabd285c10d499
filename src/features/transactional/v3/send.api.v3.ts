import { Type } from 'typebox'
import type { Ctx } from '../../../kernel/ctx.ts'
import { domainOf } from '../../../kernel/email-address.ts'
import { answer, operation } from '../../../kernel/operation.ts'
import { prepared } from '../../../kernel/prepared.ts'
import { idempotencyInProgress, idempotencyKeyReused } from '../../../kernel/refusals.ts'
import { closed } from '../../../kernel/schema.ts'
import {
  dailyCapReached,
  monthlyQuotaReached,
  senderDomainNotAllowed,
  senderUnverified,
} from '../../accounts/usage/refusals.ts'
import { refuseForeignSender } from '../../accounts/usage/spend-sending.ts'
import { contentMissing, recipientSuppressed, templateInvalid } from '../../messages/refusals.ts'
import { refuseUnverified } from '../../messages/senders/verified-sender.ts'
import { type AttachedFiles, fetchFilesOf } from '../attached-file.ts'
import { maxSendBytes } from '../send-request.ts'
import { type FetchAttachment, fetchAttachments, roomBeside } from './attachments.ts'
import { idempotencyKeyIn } from './headers.ts'
import { type Plan, planSend, templateIdsIn } from './plan-send.ts'
import { queuePlans } from './queue-plans.ts'
import { SendBody, secretFields } from './send-request.ts'

const attached = prepared<AttachedFiles>()
const planned = prepared<Plan>()

/** Each may say as much as the whole. */
const manyVersions = 10

export const sendTransacEmail = ({ fetchAttachment }: { fetchAttachment: FetchAttachment }) =>
  operation({
    name: 'email.send',
    http: 'POST /v3/smtp/email',
    area: 'Transactional',
    summary: 'Send to one or many recipients',
    description: 'Same schema as the compatible provider. Accepted is not delivered.',
    scope: 'email.send',
    effect: 'irreversible',
    perMinute: 300,
    body: SendBody,
    maxBodyBytes: maxSendBytes,
    secret: secretFields,
    status: [201, 202],
    reply: closed({
      messageId: Type.Optional(Type.String()),
      messageIds: Type.Optional(Type.Array(Type.String(), { description: 'One per message version' })),
      batchId: Type.Optional(Type.String()),
    }),
    refusals: [
      contentMissing,
      recipientSuppressed,
      templateInvalid,
      senderDomainNotAllowed,
      senderUnverified,
      dailyCapReached,
      monthlyQuotaReached,
      idempotencyInProgress,
      idempotencyKeyReused,
    ],
    weigh: (input) => planned.take(input).storedBytes,
    isLong: ({ body }) => (body.messageVersions ?? []).length >= manyVersions,
    keyInInput: { of: ({ body }) => idempotencyKeyIn(body.headers), rememberMs: 30 * 60_000 },
    fetch: async (ctx, input) => {
      const room = roomBeside(input.body.attachment)
      const body = await fetchAttachments(ctx, fetchAttachment, input.body, room)
      const files = await fetchFilesOf(ctx, fetchAttachment, templateIdsIn(body), room)
      return attached.put({ ...input, body }, files)
    },
    // Planned before the transaction, which the calls of others share: templates are the customers' and take time.
    prepare: async (ctx, input) =>
      planned.put(input, await planChecked(ctx, input.body, attached.take(input))),
  }).runTogether(async (db, calls) => {
    const plans = calls.map(({ ctx, input }) => ({ ...planned.take(input), ctx }))
    const sending = plans.filter(({ versions }) => versions.some(({ isSandbox }) => !isSandbox))
    const refused = await queuePlans(db, sending)
    const refusals = new Map(sending.map((plan, i) => [plan, refused[i]]))
    return plans.map((plan) => refusals.get(plan) ?? answerOf(plan))
  })

/** What is sent to nobody obeys the rules of the key as well. */
async function planChecked(ctx: Ctx, body: SendBody, files: AttachedFiles): Promise<Plan> {
  const plan = await planSend(ctx, body, files)
  const dropped = plan.versions.filter(({ isSandbox }) => isSandbox).flatMap(({ copies }) => copies)
  for (const email of new Set(dropped.map(({ from }) => from.email))) {
    refuseForeignSender(ctx.caller, domainOf(email))
    await refuseUnverified(ctx.db, ctx.caller, email)
  }
  return plan
}

function answerOf({ versions, isVersioned, scheduled }: Plan) {
  const ids = versions.map(({ messageId }) => messageId)
  const told = isVersioned ? { messageIds: ids } : { messageId: ids[0] }
  return scheduled ? answer(202, { ...told, batchId: scheduled.batchId }) : answer(201, told)
}
