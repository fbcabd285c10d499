// The own namespace's way to send: a campaign that exists, or one given with the call.
import { collector, together } from '../../kernel/collect.ts'
import type { Ctx } from '../../kernel/ctx.ts'
import { readAddress } from '../../kernel/email-address.ts'
import type { Refusal } from '../../kernel/refusal.ts'
import { conflict, invalidParameter, missingParameter } from '../../kernel/refusals.ts'
import { readSettings } from '../accounts/settings/settings.ts'
import { findBeyondLimits, findNoRoom } from '../accounts/usage/refuse-without-room.ts'
import { contentMissing } from '../messages/refusals.ts'
import { withLinks } from '../messages/templates/old-names.ts'
import { refuseBadTemplate } from '../transactional/v3/render.ts'
import type { CampaignBody } from './body.ts'
import type { CampaignRow } from './campaign-row.ts'
import { inOwnWords } from './own-words.ts'
import { htmlOf, refuseSeveralContents, templateOf } from './read-content.ts'
import { nameFrom } from './read-fields.ts'
import type { RecipientCounts } from './recipients-queries.ts'
import { refuseUnknownRecipients } from './refuse-unknown.ts'
import {
  countedRecipients,
  readScheduledAt,
  refuseUnconfirmed,
  refuseUnready,
  scheduleAt,
  start,
} from './start-campaign.ts'
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
  return inOwnWords(asked, async () => {
    const campaign = await campaignOf(ctx, asked)
    refuseStarted(campaign)
    await refuseUnready(ctx, campaign, 'sent')
    const isNow = asked.scheduled_at === undefined
    if (!isNow) readScheduledAt(ctx, asked.scheduled_at)
    const counted = await countedRecipients(ctx, campaign)
    const { counts: recipients } = counted
    const { sendable } = recipients
    const noRoom = await (isNow ? findNoRoom(ctx, sendable) : findBeyondLimits(ctx, async () => sendable))
    refuseUnconfirmed(asked.confirm === true, recipients, noRoom)
    if (noRoom) throw noRoom
    if (isNow) await start(ctx, campaign, counted)
    else await scheduleAt(ctx, campaign, asked.scheduled_at)
    const status = isNow ? ('in_process' as const) : ('queued' as const)
    return { campaign_id: Number(campaign.id), status, recipients }
  })
}

async function campaignOf(ctx: Ctx, asked: SendAsked): Promise<CampaignRow> {
  const { campaign_id, scheduled_at: _at, confirm: _confirm, ...inline } = asked
  const [also] = Object.keys(inline)
  if (campaign_id === undefined) return holdCampaign(ctx, await createCampaign(ctx, await bodyOf(ctx, asked)))
  if (also !== undefined)
    throw invalidParameter({ message: `${also} cannot be given with campaign_id.`, param: also })
  return holdCampaign(ctx, campaign_id)
}

/** Only one that has not been started. */
function refuseStarted({ status }: CampaignRow): void {
  if (status === 'draft' || status === 'queued') return
  throw conflict({
    message: `The campaign is ${status} and cannot be sent.`,
    param: 'campaign_id',
    hint: 'campaign.list (GET /api/v1/campaigns) tells the status of campaigns.',
  })
}

async function bodyOf(ctx: Ctx, inline: SendAsked): Promise<CampaignBody> {
  const refused = together(await faultsOfInline(ctx, inline))
  if (refused) throw refused
  return {
    name: inline.name ?? nameFrom(inline.subject ?? 'Campaign'),
    subject: inline.subject,
    sender: inline.from === undefined ? undefined : addressOf(inline.from, 'from'),
    htmlContent: inline.html,
    templateId: inline.template_id,
    recipients: { listIds: inline.list_id === undefined ? [] : [inline.list_id] },
    tag: inline.tag,
    replyTo: inline.reply_to === undefined ? undefined : addressOf(inline.reply_to, 'reply_to').email,
  }
}

const nothing: ReadonlySet<string> = new Set()

/** All that is wrong with the fields of a campaign given with the call, but for what is known already. */
export async function faultsOfInline(ctx: Ctx, inline: SendAsked, faulty = nothing): Promise<Refusal[]> {
  const { html, template_id, list_id, scheduled_at } = inline
  const { refusals, step } = collector()
  const look = <T>(work: () => T | Promise<T>) => step(() => inOwnWords(inline, async () => work()))
  refusals.push(...(await lackingIn(ctx, inline, faulty)))
  await look(() => refuseSeveralContents({ htmlContent: html, templateId: template_id }))
  await look(() => templateOf(ctx, template_id))
  const source = await look(() => htmlOf({ htmlContent: html }, undefined))
  if (source) await look(() => refuseBadTemplate(withLinks(source), 'html', 'html'))
  await look(() => refuseBadTemplate(inline.subject ?? '', 'text', 'subject'))
  if (list_id !== undefined) await look(() => refuseUnknownRecipients(ctx, { listIds: [list_id] }))
  if (scheduled_at !== undefined) await look(() => readScheduledAt(ctx, scheduled_at))
  return refusals
}

async function lackingIn(ctx: Ctx, inline: InlineCampaign, faulty = nothing): Promise<Refusal[]> {
  const found: Refusal[] = []
  if (inline.list_id === undefined)
    found.push(
      missingParameter({
        message: 'list_id is missing.',
        param: 'list_id',
        hint: 'Give campaign_id, or a whole campaign with the list it goes to.',
      }),
    )
  // A template brings the rest with it.
  if (inline.template_id !== undefined || faulty.has('template_id')) return found
  const content = { hint: 'Give html and a subject, or template_id.' }
  if (!inline.html?.trim())
    found.push(contentMissing({ ...content, message: 'The campaign has no content.', param: 'html' }))
  if (!inline.subject?.trim())
    found.push(missingParameter({ ...content, message: 'subject is missing.', param: 'subject' }))
  if (inline.from === undefined && !(await readSettings(ctx)).default_sender)
    found.push(
      missingParameter({
        message: 'from is missing, and the account has no default sender.',
        param: 'from',
      }),
    )
  return found
}

function addressOf(given: Mailbox, param: string) {
  const read = readAddress(given)
  if ('fault' in read) throw invalidParameter({ message: `${param} ${read.fault}.`, param })
  return read
}
