// The own namespace's way to send: a campaign that exists, or one given with the call.
import type { Ctx } from '../../kernel/ctx.ts'
import { readAddress } from '../../kernel/email-address.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { invalidParameter, missingParameter } from '../../kernel/refusals.ts'
import { refuseWithoutRoom } from '../accounts/usage/refuse-without-room.ts'
import { contentMissing } from '../messages/refusals.ts'
import type { CampaignBody } from './body.ts'
import type { CampaignRow } from './campaign-row.ts'
import type { RecipientCounts } from './recipients-queries.ts'
import { countedRecipients, refuseUnconfirmed, refuseUnready, scheduleAt, start } from './start-campaign.ts'
import { createCampaign, holdCampaign } from './write-campaign.ts'

type Mailbox = string | { email: string; name?: string }

export type InlineCampaign = {
  name?: string
  subject?: string
  from?: Mailbox
  html?: string
  template_id?: number
  list_id?: number
  tag?: string
  reply_to?: Mailbox
}

export type SendAsked = InlineCampaign & { campaign_id?: number; scheduled_at?: string; confirm?: boolean }

export type Sent = { campaign_id: number; status: 'in_process' | 'queued'; recipients: RecipientCounts }

/** A refusal takes back the campaign that was made on the way. */
export function sendCampaign(ctx: Ctx, asked: SendAsked): Promise<Sent> {
  return inOwnWords(async () => {
    const campaign = await campaignOf(ctx, asked)
    await refuseUnready(ctx, campaign, 'sent')
    const recipients = await countedRecipients(ctx, campaign)
    refuseUnconfirmed(asked.confirm === true, recipients)
    if (asked.scheduled_at === undefined) {
      await refuseWithoutRoom(ctx, recipients.sendable)
      await start(ctx, campaign)
    } else await scheduleAt(ctx, campaign, asked.scheduled_at)
    const status = asked.scheduled_at === undefined ? ('in_process' as const) : ('queued' as const)
    return { campaign_id: Number(campaign.id), status, recipients }
  })
}

async function campaignOf(ctx: Ctx, asked: SendAsked): Promise<CampaignRow> {
  const { campaign_id, scheduled_at: _at, confirm: _confirm, ...inline } = asked
  const [also] = Object.keys(inline)
  if (campaign_id === undefined) return holdCampaign(ctx, await createCampaign(ctx, bodyOf(inline)))
  if (also !== undefined)
    throw invalidParameter({ message: `${also} cannot be given with campaign_id.`, param: also })
  return holdCampaign(ctx, campaign_id)
}

function bodyOf(inline: InlineCampaign): CampaignBody {
  if (inline.list_id === undefined)
    throw missingParameter({
      message: 'list_id is missing.',
      param: 'list_id',
      hint: 'Give campaign_id, or a whole campaign with the list it goes to.',
    })
  if (inline.html === undefined && inline.template_id === undefined)
    throw contentMissing({ message: 'The campaign has no content.', param: 'html' })
  return {
    name: inline.name ?? inline.subject ?? 'Campaign',
    subject: inline.subject,
    sender: inline.from === undefined ? undefined : addressOf(inline.from, 'from'),
    htmlContent: inline.html,
    templateId: inline.template_id,
    recipients: { listIds: [inline.list_id] },
    tag: inline.tag,
    replyTo: inline.reply_to === undefined ? undefined : addressOf(inline.reply_to, 'reply_to').email,
  }
}

function addressOf(given: Mailbox, param: string) {
  const read = readAddress(given)
  if ('fault' in read) throw invalidParameter({ message: `${param} ${read.fault}.`, param })
  return read
}

const ownNames: Record<string, string> = {
  htmlContent: 'html',
  templateId: 'template_id',
  replyTo: 'reply_to',
  scheduledAt: 'scheduled_at',
  sender: 'from',
  recipients: 'list_id',
}

/** The acts speak of the fields of the compatible namespace. */
async function inOwnWords<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { declaration, told } = error
    const message = error.message.replaceAll(
      /\b(?:htmlContent|templateId|replyTo|scheduledAt)\b/g,
      (name) => ownNames[name] ?? name,
    )
    throw new Refusal(declaration, {
      ...told,
      message,
      param: told.param && (ownNames[told.param] ?? told.param),
    })
  }
}
