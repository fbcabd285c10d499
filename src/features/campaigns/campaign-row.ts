// A campaign as it is stored.
import type { Address } from '../../kernel/email-address.ts'
import { bool, int, json, maybe, row, text, time } from '../../kernel/row.ts'
import type { Recipients } from './recipients-queries.ts'

export const statuses = [
  'draft',
  'queued',
  'in_process',
  'suspended',
  'sent',
  'cancelled',
  'archive',
] as const
export type Status = (typeof statuses)[number]

export type AbTest = {
  subjectA: string
  subjectB: string
  splitRule: number
  winnerCriteria?: 'open' | 'click'
  winnerDelay?: number
}

/** Fields of the provider that are kept and given back; some of them change what is sent. */
export type Extras = {
  header?: string
  footer?: string
  attachmentUrl?: string
  ipWarmupEnable?: boolean
  initialQuota?: number
  increaseRate?: number
  utmCampaign?: string
  utmContent?: string
  utmTerm?: string
  utmID?: string
  [name: string]: unknown
}

export type CampaignRow = {
  account_id: string
  id: string
  name: string
  type: 'classic' | 'trigger'
  status: Status
  was_status: Status | null
  subject: string
  preview_text: string
  html: string
  text: string | null
  sender: Address
  reply_to: string | null
  to_field: string
  tag: string | null
  params: Record<string, unknown>
  recipients: Recipients
  ab_test: AbTest | null
  winner: 'A' | 'B' | null
  extras: Extras
  scheduled_at: Date | null
  test_sent: boolean
  created_at: Date
  modified_at: Date
  started_at: Date | null
  /** Since when it has messages. */
  frozen_at: Date | null
  total: number | null
  sent_at: Date | null
  held_reason: string | null
}

export const Campaign = row<CampaignRow>({
  account_id: text,
  id: text,
  name: text,
  type: json(),
  status: json(),
  was_status: json(),
  subject: text,
  preview_text: text,
  html: text,
  text: maybe(text),
  sender: json(),
  reply_to: maybe(text),
  to_field: text,
  tag: maybe(text),
  params: json(),
  recipients: json(),
  ab_test: json(),
  winner: json(),
  extras: json(),
  scheduled_at: maybe(time),
  test_sent: bool,
  created_at: time,
  modified_at: time,
  started_at: maybe(time),
  frozen_at: maybe(time),
  total: maybe(int),
  sent_at: maybe(time),
  held_reason: maybe(text),
})

/** What it was before it was put into the archive. */
export const inForce = ({ status, was_status }: Pick<CampaignRow, 'status' | 'was_status'>) =>
  status === 'archive' ? was_status : status
