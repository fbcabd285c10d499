// What a campaign is created and changed with. Most of it is checked by the act, which answers in the provider's words.
import { type Static, Type } from 'typebox'
import { closed } from '../../kernel/schema.ts'
import { optional, optionalMap } from '../../kernel/v3/lenient.ts'
import { SenderGiven } from '../transactional/v3/send-request.ts'

const Text = Type.Optional(Type.String())
const Flag = optional(Type.Boolean())
const idle = { description: 'Kept and given back, without effect' }
const IdleText = Type.Optional(Type.String(idle))
const IdleFlag = optional(Type.Boolean(idle))
const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
const Ids = optional(Type.Array(Id, { maxItems: 1000 }))

export const RecipientsGiven = closed({
  listIds: Ids,
  exclusionListIds: Ids,
  segmentIds: Ids,
  exclusionSegmentIds: Ids,
})

/** Kept and given back as they came. */
const kept = {
  header: Text,
  footer: Text,
  attachmentUrl: Type.Optional(Type.String({ description: 'Fetched once, when the send begins' })),
  utmCampaign: Text,
  utmContent: Text,
  utmTerm: Text,
  utmID: Text,
  ipWarmupEnable: Flag,
  initialQuota: optional(Type.Integer({ description: 'Messages on the first day of a warm-up' })),
  increaseRate: optional(Type.Integer({ description: 'Per cent more on each further day, 0 to 100' })),
  mirrorActive: IdleFlag,
  inlineImageActivation: IdleFlag,
  sendAtBestTime: IdleFlag,
  returnBounce: optional(Type.Integer(idle)),
  unsubscriptionPageId: IdleText,
  updateFormId: IdleText,
  emailExpirationDate: optional(
    closed({ duration: Type.Optional(Type.Integer({ description: '1 to 3600' })), unit: Text }, idle),
  ),
}

export const keptNames = Object.keys(kept) as (keyof typeof kept)[]

export const CampaignBody = closed({
  name: Text,
  type: Text,
  sender: optional(SenderGiven),
  subject: Text,
  previewText: Text,
  htmlContent: Text,
  htmlUrl: Type.Optional(Type.String({ description: 'Where the HTML is fetched from, once' })),
  templateId: optional(Id),
  textContent: Text,
  recipients: optional(RecipientsGiven),
  scheduledAt: Type.Optional(Type.String({ description: 'ISO 8601; the campaign is then queued' })),
  replyTo: Text,
  toField: Text,
  tag: Text,
  params: optionalMap(Type.Unknown()),
  recurring: Flag,
  abTesting: Flag,
  subjectA: Text,
  subjectB: Text,
  splitRule: optional(Type.Integer({ description: 'Per cent that get the test, 1 to 50 for each version' })),
  winnerCriteria: Text,
  winnerDelay: optional(Type.Integer({ description: 'Hours, 1 to 168' })),
  ...kept,
})

export type CampaignBody = Static<typeof CampaignBody>
export type RecipientsGiven = Static<typeof RecipientsGiven>

/** Contents never stand in the action log, nor do addresses, which may hold what opens them. */
export const secretFields = [
  'subject',
  'subjectA',
  'subjectB',
  'htmlUrl',
  'attachmentUrl',
  'htmlContent',
  'textContent',
  'previewText',
  'params',
  'header',
  'footer',
]
