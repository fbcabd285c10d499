// The moves as the own namespace has them: whoever asks for what is already so is told so, anything else is a conflict.
import type { Ctx } from '../../kernel/ctx.ts'
import { confirmationRequired, conflict } from '../../kernel/refusals.ts'
import type { CampaignRow, Status } from './campaign-row.ts'
import { move } from './move-campaign.ts'
import { inOwnWords } from './own-words.ts'
import { movesFrom } from './queries.ts'
import { holdCampaign, readCampaign } from './write-campaign.ts'

export type OwnMove = 'pause' | 'resume' | 'cancel'

export type Moved = { campaign_id: number; status: Status }

const reached: Record<OwnMove, { states: Status[]; done: string }> = {
  pause: { states: ['suspended'], done: 'paused' },
  resume: { states: ['in_process', 'queued'], done: 'resumed' },
  cancel: { states: ['cancelled'], done: 'cancelled' },
}

export function moveOwn(ctx: Ctx, id: number, to: OwnMove, isConfirmed = true): Promise<Moved> {
  return inOwnWords({ id }, async () => {
    const campaign = await holdCampaign(ctx, id)
    if (reached[to].states.includes(campaign.status)) return { campaign_id: id, status: campaign.status }
    if (!movesFrom[to].includes(campaign.status)) throw unmovable(campaign, to)
    if (!isConfirmed) throw unconfirmed(campaign)
    await move(ctx, id, to)
    return { campaign_id: id, status: (await readCampaign(ctx, id)).status }
  })
}

const unmovable = ({ status }: CampaignRow, to: OwnMove) =>
  conflict({
    message: `The campaign is ${status} and cannot be ${reached[to].done}.`,
    param: 'id',
    hint:
      `Only one that is ${movesFrom[to].join(' or ')} can be; ` +
      'campaign.list (GET /api/v1/campaigns) tells the status.',
  })

const unconfirmed = ({ status }: CampaignRow) =>
  confirmationRequired({
    message:
      `Nothing was cancelled: the campaign is ${status}. A cancelled campaign cannot be sent any more: ` +
      'send "confirm": true to go ahead.',
    param: 'confirm',
    hint: 'campaign.pause interrupts it, and campaign.resume goes on with it.',
  })
