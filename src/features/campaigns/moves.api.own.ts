// Finding campaigns again and taking a send back, in the own namespace.
import { Type } from 'typebox'
import { operation } from '../../kernel/operation.ts'
import { confirmationRequired, conflict, notFound } from '../../kernel/refusals.ts'
import { closed, orNull, pageOf, pageQuery, Time, words } from '../../kernel/schema.ts'
import { sendingRefusals } from '../accounts/usage/refusals.ts'
import { templateInvalid } from '../messages/refusals.ts'
import { statuses } from './campaign-row.ts'
import { pageOfCampaignsOwn } from './list-campaigns-own.ts'
import { moveOwn } from './move-own.ts'

const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
const Count = Type.Integer()
const shared = { area: 'Campaigns', scope: 'email.send' } as const

export const listCampaignsOwn = operation({
  ...shared,
  name: 'campaign.list',
  http: 'GET /api/v1/campaigns',
  summary: 'List campaigns, newest first',
  description:
    'queued waits for scheduled_at, in_process is being sent, suspended is paused. campaign.stats tells more of one.',
  effect: 'read',
  query: closed({ status: Type.Optional(words(statuses)), ...pageQuery }),
  reply: pageOf(
    closed({
      id: Type.Integer(),
      name: Type.String(),
      status: words(statuses),
      subject: Type.String(),
      scheduled_at: orNull(Time),
      held_reason: orNull(
        Type.String({
          description: 'Why it is suspended, where nobody asked for it; mend it, then resume it',
        }),
      ),
      created_at: Time,
      recipients: Type.Integer({ description: '0 until its sending has begun' }),
      sent: Count,
      delivered: Count,
    }),
  ),
}).run((ctx, { query }) => pageOfCampaignsOwn(ctx, query))

const moving = {
  ...shared,
  params: closed({ id: Id }),
  reply: closed({ campaign_id: Type.Integer(), status: words(statuses) }),
}

export const pauseCampaignOwn = operation({
  ...moving,
  name: 'campaign.pause',
  http: 'POST /api/v1/campaigns/{id}/pause',
  summary: 'Interrupt a send, or keep a scheduled one from starting',
  description: 'What has left is not called back. campaign.resume goes on with it, campaign.cancel ends it.',
  effect: 'change',
  refusals: [notFound, conflict],
}).run((ctx, { params: { id } }) => moveOwn(ctx, id, 'pause'))

export const resumeCampaignOwn = operation({
  ...moving,
  name: 'campaign.resume',
  http: 'POST /api/v1/campaigns/{id}/resume',
  summary: 'Go on with an interrupted send',
  description: 'One whose time has not come waits for it again.',
  effect: 'change',
  refusals: [notFound, conflict, templateInvalid, ...sendingRefusals],
}).run((ctx, { params: { id } }) => moveOwn(ctx, id, 'resume'))

export const cancelCampaignOwn = operation({
  ...moving,
  name: 'campaign.cancel',
  http: 'POST /api/v1/campaigns/{id}/cancel',
  summary: 'Cancel a campaign for good',
  description:
    'Scheduled, being sent or paused; what has left is not called back. Needs confirm: true, because it cannot be ' +
    'sent any more afterwards.',
  effect: 'irreversible',
  body: closed({ confirm: Type.Optional(Type.Boolean()) }),
  refusals: [notFound, conflict, confirmationRequired],
}).run((ctx, { params: { id }, body }) => moveOwn(ctx, id, 'cancel', body.confirm === true))
