// A campaign on the wire, in the provider's words.
import { type Static, Type } from 'typebox'
import { closed, Time, words } from '../../kernel/schema.ts'
import { statuses as messageStatuses } from '../messages/model.ts'
import type { SenderIds } from '../messages/senders/sender-ids.ts'
import { type CampaignRow, statuses } from './campaign-row.ts'
import type { Progress } from './progress.ts'
import { Statistics } from './statistics.ts'
import { utmMedium, utmSource } from './utm.ts'

const Text = Type.String()
const Ids = Type.Array(Type.Integer())
const Some = <S extends Type.TSchema>(schema: S) => Type.Optional(schema)

export const ProgressShown = closed({
  total: Type.Integer(),
  ...(Object.fromEntries(messageStatuses.map((status) => [status, Type.Integer()])) as Record<
    (typeof messageStatuses)[number],
    Type.TInteger
  >),
})

export const CampaignShown = closed({
  id: Type.Integer(),
  name: Text,
  type: words(['classic', 'trigger']),
  status: words(statuses),
  subject: Some(Text),
  previewText: Text,
  abTesting: Type.Boolean(),
  subjectA: Some(Text),
  subjectB: Some(Text),
  splitRule: Some(Type.Integer()),
  winnerCriteria: Some(Text),
  winnerDelay: Some(Type.Integer()),
  scheduledAt: Some(Time),
  sentDate: Some(Time),
  testSent: Type.Boolean(),
  header: Text,
  footer: Text,
  sender: closed({
    id: Type.Integer({ description: '0: the address is not among the senders' }),
    name: Text,
    email: Text,
  }),
  replyTo: Text,
  toField: Text,
  htmlContent: Text,
  textContent: Some(Text),
  tag: Text,
  tags: Type.Array(Text),
  shareLink: Text,
  attachmentUrl: Text,
  inlineImageActivation: Type.Boolean(),
  mirrorActive: Type.Boolean(),
  recurring: Type.Boolean(),
  sendAtBestTime: Type.Boolean(),
  returnBounce: Type.Integer(),
  unsubscriptionPageId: Some(Text),
  updateFormId: Some(Text),
  emailExpirationDate: Some(closed({ duration: Some(Type.Integer()), unit: Some(Text) })),
  utmCampaignValue: Text,
  utmContent: Text,
  utmTerm: Text,
  utmSource: Text,
  utmMedium: Text,
  utmID: Some(Text),
  ipWarmupEnable: Some(Type.Boolean()),
  initialQuota: Some(Type.Integer()),
  increaseRate: Some(Type.Integer()),
  recipients: closed({ lists: Ids, exclusionLists: Ids, segments: Ids, excludedSegments: Ids }),
  createdAt: Time,
  modifiedAt: Time,
  heldReason: Some(Type.String({ description: 'Why it was interrupted when nobody asked for it' })),
  statistics: Statistics,
  progress: Some(ProgressShown),
})

type Shown = Static<typeof CampaignShown>

type Beside = { statistics: Statistics; progress?: Progress; shareLink?: string; senders: SenderIds }

const unsent = 'The link to a campaign is made when it has been sent'

export function showCampaign(row: CampaignRow, { statistics, progress, shareLink, senders }: Beside): Shown {
  return {
    id: Number(row.id),
    name: row.name,
    type: row.type,
    status: row.status,
    ...showSubjects(row),
    previewText: row.preview_text,
    ...showTimes(row),
    testSent: row.test_sent,
    sender: { id: senders(row.sender.email), name: row.sender.name ?? '', email: row.sender.email },
    replyTo: row.reply_to ?? row.sender.email,
    toField: row.to_field,
    htmlContent: row.html,
    ...(row.text !== null && { textContent: row.text }),
    tag: row.tag ?? '',
    tags: row.tag === null ? [] : [row.tag],
    shareLink: row.sent_at === null ? unsent : (shareLink ?? unsent),
    ...showExtras(row),
    recipients: showRecipients(row),
    ...(row.held_reason !== null && { heldReason: row.held_reason }),
    statistics,
    ...(progress && { progress }),
  }
}

function showSubjects({ subject, ab_test }: CampaignRow) {
  return ab_test ? { abTesting: true, ...ab_test } : { abTesting: false, subject }
}

function showTimes({ scheduled_at, sent_at, created_at, modified_at }: CampaignRow) {
  return {
    ...(scheduled_at && { scheduledAt: scheduled_at.toISOString() }),
    ...(sent_at && { sentDate: sent_at.toISOString() }),
    createdAt: created_at.toISOString(),
    modifiedAt: modified_at.toISOString(),
  }
}

function showRecipients({ recipients }: CampaignRow) {
  return {
    lists: recipients.listIds ?? [],
    exclusionLists: recipients.exclusionListIds ?? [],
    segments: recipients.segmentIds ?? [],
    excludedSegments: recipients.exclusionSegmentIds ?? [],
  }
}

type Kept = Pick<
  Shown,
  | 'inlineImageActivation'
  | 'mirrorActive'
  | 'sendAtBestTime'
  | 'returnBounce'
  | 'unsubscriptionPageId'
  | 'updateFormId'
  | 'emailExpirationDate'
  | 'utmID'
>

const usual = { inlineImageActivation: false, mirrorActive: true, sendAtBestTime: false, returnBounce: 0 }

/** What is kept has the names of the wire but for one. */
function showExtras({ extras }: CampaignRow) {
  const { utmCampaign = '', ...kept } = extras
  return {
    header: '',
    footer: '',
    attachmentUrl: '',
    utmContent: '',
    utmTerm: '',
    ...usual,
    ...(kept as Partial<Kept>),
    utmCampaignValue: utmCampaign,
    utmSource,
    utmMedium,
    recurring: false,
  }
}
