// From the body of a request to the fields of a campaign; what is not given stays as it was.
import type { Ctx } from '../../kernel/ctx.ts'
import { type Address, readAddress } from '../../kernel/email-address.ts'
import { invalidParameter, missingParameter } from '../../kernel/refusals.ts'
import { cut, given, mapOf, oneLine, storable } from '../../kernel/v3/lenient.ts'
import { readSettings } from '../accounts/settings/settings.ts'
import { readAttachmentUrl } from '../transactional/attached-file.ts'
import type { UsedTemplate } from '../transactional/template-queries.ts'
import { readSender } from '../transactional/v3/addresses.ts'
import type { CampaignBody, RecipientsGiven } from './body.ts'
import { keptNames } from './body.ts'
import type { AbTest, Extras } from './campaign-row.ts'
import type { CampaignFields } from './queries.ts'
import { htmlOf, refuseBadTemplates, refuseSeveralContents, templateOf } from './read-content.ts'
import type { Recipients } from './recipients-queries.ts'
import { refuseUnknownRecipients } from './refuse-unknown.ts'

const nothing: Omit<CampaignFields, 'name' | 'sender'> = {
  type: 'classic',
  subject: '',
  preview_text: '',
  html: '',
  text: null,
  reply_to: null,
  to_field: '',
  tag: null,
  params: {},
  recipients: {},
  ab_test: null,
  extras: {},
}

const longestName = 255
const longestTag = 255

/** Of another text. */
export const nameFrom = (text: string) => cut(text, longestName)

export async function readFields(
  ctx: Ctx,
  body: CampaignBody,
  known?: CampaignFields,
): Promise<CampaignFields> {
  refuseUnsupported(body)
  refuseSeveralContents(body)
  const before = known ?? { ...nothing, name: '', sender: { email: '' } }
  const template = await templateOf(ctx, body.templateId)
  const sender = (await readOwnSender(ctx, body)) ?? (known || !template ? undefined : template.sender)
  const fields: CampaignFields = {
    name: readName(body) ?? before.name,
    type: body.type === 'trigger' ? 'trigger' : before.type,
    subject: storable(given(body.subject) ?? (template?.subject || before.subject)),
    preview_text: storable(body.previewText ?? before.preview_text),
    html: htmlOf(body, template) ?? before.html,
    text: body.textContent === undefined ? before.text : (given(storable(body.textContent)) ?? null),
    sender: sender ?? (known ? before.sender : await defaultSender(ctx)),
    reply_to:
      body.replyTo === undefined
        ? (before.reply_to ?? template?.reply_to ?? null)
        : readReplyTo(body.replyTo),
    to_field: storable(body.toField ?? before.to_field),
    tag: body.tag === undefined ? (before.tag ?? (template?.tag || null)) : readTag(body.tag),
    params: body.params == null ? before.params : mapOf(body.params),
    recipients: body.recipients ? readRecipients(body.recipients, before.recipients) : before.recipients,
    ab_test: readAbTest(body, before.ab_test),
    extras: { ...readExtras(body, before.extras), ...readFile(body, template) },
  }
  refuseBadWarmup(fields.extras)
  // Those that are named now: a list that was deleted since does not keep the rest from being changed.
  if (body.recipients) await refuseUnknownRecipients(ctx, readRecipients(body.recipients, {}))
  await refuseBadTemplates(fields)
  return fields
}

function readName({ name }: CampaignBody): string | undefined {
  const read = given(oneLine(name ?? ''))
  if (read === undefined || read.length <= longestName) return read
  throw invalidParameter({ message: `name must have at most ${longestName} characters`, param: 'name' })
}

function readTag(tag: string): string | null {
  const read = oneLine(tag)
  if (read.length <= longestTag) return given(read) ?? null
  throw invalidParameter({ message: `tag must have at most ${longestTag} characters`, param: 'tag' })
}

async function readOwnSender(ctx: Ctx, { sender }: CampaignBody): Promise<Address | undefined> {
  if (sender?.id && given(sender.email) !== undefined)
    throw invalidParameter({ message: 'Give the sender by email or by id, not both', param: 'sender' })
  return readSender(ctx, sender)
}

async function defaultSender(ctx: Ctx): Promise<Address> {
  const { default_sender } = await readSettings(ctx)
  if (default_sender) return default_sender
  throw missingParameter({ message: 'sender is missing', param: 'sender' })
}

/** The provider's placeholder stands for the sender's own address. */
function readReplyTo(replyTo: string): string | null {
  if (given(replyTo) === undefined || replyTo.startsWith('[DEFAULT')) return null
  const read = readAddress(replyTo)
  if (!('fault' in read)) return read.email
  throw invalidParameter({ message: 'replyTo must be an email address', param: 'replyTo' })
}

function readRecipients(asked: RecipientsGiven, before: Recipients): Recipients {
  const pick = (name: keyof RecipientsGiven) => asked[name] ?? before[name] ?? []
  return {
    listIds: [...new Set(pick('listIds'))],
    exclusionListIds: [...new Set(pick('exclusionListIds'))],
    segmentIds: [...new Set(pick('segmentIds'))],
    exclusionSegmentIds: [...new Set(pick('exclusionSegmentIds'))],
  }
}

/** The template's own when none is given with it. */
function readFile({ attachmentUrl }: CampaignBody, template: UsedTemplate | undefined): Extras {
  if (attachmentUrl !== undefined) return { attachmentUrl: readAttachmentUrl(attachmentUrl) ?? '' }
  return template?.attachment_url ? { attachmentUrl: template.attachment_url } : {}
}

const utmNames = ['utmCampaign', 'utmContent', 'utmTerm'] as const
const expirationUnits = ['days', 'weeks', 'months']

function refuseBadExtras(body: CampaignBody): void {
  const param = utmNames.find((name) => !/^[\p{L}\p{M}\p{N} ]*$/u.test(body[name] ?? ''))
  if (param) throw invalidParameter({ message: `${param} may have letters, digits and spaces only`, param })
  const { emailExpirationDate: expiration } = body
  if (!expiration) return
  within(expiration.duration, 'emailExpirationDate.duration', { least: 1, most: 3600 })
  if (expirationUnits.includes(expiration.unit ?? '')) return
  const unit = 'emailExpirationDate.unit'
  throw invalidParameter({ message: `${unit} must be one of ${expirationUnits.join(', ')}`, param: unit })
}

function readExtras(body: CampaignBody, before: Extras): Extras {
  refuseBadExtras(body)
  const asked = keptNames.flatMap((name) => {
    const value = body[name]
    if (value === undefined || value === null) return []
    return [[name, typeof value === 'string' ? storable(value) : value]]
  })
  return { ...before, ...Object.fromEntries(asked) }
}

function refuseUnsupported({ recurring }: CampaignBody): void {
  if (!recurring) return
  const message = 'A campaign is sent once: recurring is not supported; an automation writes again'
  throw invalidParameter({ message, param: 'recurring' })
}

function refuseBadWarmup({ ipWarmupEnable, initialQuota, increaseRate }: Extras): void {
  if (!ipWarmupEnable) return
  within(initialQuota, 'initialQuota', { least: 2, most: 1_000_000_000 })
  within(increaseRate, 'increaseRate', { least: 0, most: 100 })
}

function readAbTest(body: CampaignBody, before: AbTest | null): AbTest | null {
  if (!(body.abTesting ?? before !== null)) return null
  if (body.sendAtBestTime)
    throw invalidParameter({ message: 'abTesting cannot be used with sendAtBestTime', param: 'abTesting' })
  const subjectA = given(body.subjectA) ?? before?.subjectA
  const subjectB = given(body.subjectB) ?? before?.subjectB
  if (subjectA === undefined) throw missingParameter({ message: 'subjectA is missing', param: 'subjectA' })
  if (subjectB === undefined) throw missingParameter({ message: 'subjectB is missing', param: 'subjectB' })
  if (subjectA === subjectB)
    throw invalidParameter({ message: 'subjectA and subjectB must differ', param: 'subjectB' })
  const splitRule = within(body.splitRule ?? before?.splitRule, 'splitRule', { least: 1, most: 50 })
  const test = { subjectA: storable(subjectA), subjectB: storable(subjectB), splitRule }
  return splitRule === 50 ? test : { ...test, ...readWinner(body, before) }
}

function readWinner(body: CampaignBody, before: AbTest | null) {
  const criteria = given(body.winnerCriteria) ?? before?.winnerCriteria
  if (criteria !== 'open' && criteria !== 'click')
    throw invalidParameter({ message: 'winnerCriteria must be open or click', param: 'winnerCriteria' })
  const winnerDelay = within(body.winnerDelay ?? before?.winnerDelay, 'winnerDelay', { least: 1, most: 168 })
  return { winnerCriteria: criteria, winnerDelay } as const
}

type Bounds = { least: number; most: number }

function within(value: number | undefined, param: string, { least, most }: Bounds): number {
  if (value === undefined) throw missingParameter({ message: `${param} is missing`, param })
  if (value >= least && value <= most) return value
  throw invalidParameter({ message: `${param} must be between ${least} and ${most}`, param })
}
