// What moves a campaign from one state to another.
import { Type } from 'typebox'
import type { Ctx } from '../../kernel/ctx.ts'
import { answer, type Operation, operation } from '../../kernel/operation.ts'
import { prepared } from '../../kernel/prepared.ts'
import { confirmationRequired, notFound } from '../../kernel/refusals.ts'
import { closed, words } from '../../kernel/schema.ts'
import { Confirmation, optional } from '../../kernel/v3/lenient.ts'
import { sendingRefusals } from '../accounts/usage/refusals.ts'
import type { Attachment } from '../messages/queue-messages.ts'
import { recipientSuppressed, templateInvalid } from '../messages/refusals.ts'
import { fetchFile } from '../transactional/attached-file.ts'
import type { FetchAttachment } from '../transactional/v3/attachments.ts'
import { params } from './api.v3.ts'
import { move, moveByWord, statusWords } from './move-campaign.ts'
import type { Move } from './queries.ts'
import { marketingUnsupported } from './refusals.ts'
import { type LinkSource, sendTest } from './send-test.ts'
import { scheduleAt, sendNow } from './start-campaign.ts'
import { holdCampaign, readCampaign } from './write-campaign.ts'

const shared = { area: 'Campaigns', scope: 'email.send', params, status: 204, reply: Type.Null() } as const
const starting = [notFound, marketingUnsupported, templateInvalid, ...sendingRefusals]

function moving(path: string, to: Move, summary: string): Operation {
  return operation({
    ...shared,
    name: `campaign.${path}`,
    http: `POST /v3/emailCampaigns/{id}/${path}`,
    summary,
    effect: to === 'cancel' ? 'irreversible' : 'change',
    refusals: to === 'resume' ? starting : [notFound],
  }).run(async (ctx, { params: { id } }) => {
    await move(ctx, id, to)
    return null
  })
}

export const cancelCampaignV3 = moving('cancel', 'cancel', 'Cancel a campaign for good')
export const pauseCampaignV3 = moving('pause', 'pause', 'Interrupt a send')
export const stopCampaignV3 = moving('stop', 'pause', 'Interrupt a send; another word for pause')
export const resumeCampaignV3 = moving('resume', 'resume', 'Go on with an interrupted send')

export const scheduleCampaignV3 = operation({
  ...shared,
  name: 'campaign.schedule',
  http: 'POST /v3/emailCampaigns/{id}/schedule',
  needs: ['scheduledAt'],
  summary: 'Send a campaign at a time',
  effect: 'change',
  body: closed({ scheduledAt: Type.Optional(Type.String({ description: 'ISO 8601; UTC without a zone' })) }),
  refusals: starting,
}).run(async (ctx, { params: { id }, body }) => {
  await scheduleAt(ctx, await holdCampaign(ctx, id), body.scheduledAt)
  return null
})

export const sendCampaignNowV3 = operation({
  ...shared,
  name: 'campaign.send',
  http: 'POST /v3/emailCampaigns/{id}/sendNow',
  summary: 'Send a campaign to all its recipients at once',
  description: 'Needs confirm: true in the body, unless the account acts as the compatible provider does.',
  effect: 'irreversible',
  perMinute: 10,
  body: closed({ confirm: Confirmation }),
  refusals: [...starting, confirmationRequired],
}).run(async (ctx, { params: { id }, body }) => {
  await sendNow(ctx, await holdCampaign(ctx, id), body.confirm === true)
  return null
})

const attached = prepared<Attachment[]>()

/** Read before the act: nothing is fetched in a transaction. */
async function attachmentsOf(ctx: Ctx, fetch: FetchAttachment, id: number): Promise<Attachment[]> {
  const { extras } = await readCampaign(ctx, id)
  return extras.attachmentUrl ? [await fetchFile(fetch, extras.attachmentUrl)] : []
}

export const testCampaignV3 = (needs: LinkSource & { fetchAttachment: FetchAttachment }): Operation =>
  operation({
    ...shared,
    name: 'campaign.test',
    http: 'POST /v3/emailCampaigns/{id}/sendTest',
    needs: ['emailTo'],
    summary: 'Send a campaign to its authors as a test',
    description: 'The header X-Posthorn-Warnings tells what the author should know.',
    effect: 'irreversible',
    perMinute: 20,
    body: closed({ emailTo: optional(Type.Array(Type.String())) }),
    prepare: async (ctx, input) =>
      attached.put(input, await attachmentsOf(ctx, needs.fetchAttachment, input.params.id)),
    refusals: [...starting, recipientSuppressed],
  }).run(async (ctx, input) => {
    const test = { emailTo: input.body.emailTo ?? [], attachments: attached.take(input) }
    const warnings = await sendTest(ctx, input.params.id, test, needs)
    const headers = warnings.length > 0 ? { 'x-posthorn-warnings': warnings.join('; ') } : undefined
    return answer(204, null, headers)
  })

export const setCampaignStatusV3 = operation({
  ...shared,
  name: 'campaign.status',
  http: 'PUT /v3/emailCampaigns/{id}/status',
  summary: 'Change the status of a campaign',
  description:
    'suspended interrupts, queued resumes or puts a draft with a time into the queue, draft takes it out again, ' +
    'darchive takes it out of the archive, replicate makes a copy.',
  effect: 'change',
  body: closed({ status: words(statusWords) }),
  refusals: starting,
}).run(async (ctx, { params: { id }, body }) => {
  await moveByWord(ctx, id, body.status)
  return null
})
