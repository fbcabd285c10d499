import { type Static, Type } from 'typebox'
import type { Ctx } from '../../../kernel/ctx.ts'
import { type Address, domainOf } from '../../../kernel/email-address.ts'
import { newUuid } from '../../../kernel/id.ts'
import { missingParameter } from '../../../kernel/refusals.ts'
import { closed, words } from '../../../kernel/schema.ts'
import { given, optional, storable } from '../../../kernel/v3/lenient.ts'
import type { Outgoing } from '../../messages/queue-messages.ts'
import { readAuthors, writeToAuthors } from '../authors.ts'
import { type CampaignRow, inForce } from '../campaign-row.ts'
import { wrongState } from '../start-campaign.ts'
import { wholeStatistics } from '../statistics.ts'
import { readCampaign } from '../write-campaign.ts'
import { type WrittenReport, writeReport } from './report.ts'
import { languages } from './words.ts'

const mostRecipients = 10

export const ReportBody = closed({
  language: optional(words(languages, { description: 'fr when absent' })),
  email: optional(
    closed({
      to: optional(Type.Array(Type.String(), { description: `At most ${mostRecipients}` })),
      body: Type.Optional(Type.String({ description: 'Plain text, above the figures' })),
    }),
  ),
})

export async function sendReport(ctx: Ctx, id: number, asked: Static<typeof ReportBody>): Promise<void> {
  const campaign = await readCampaign(ctx, id)
  if (!hasFigures(campaign)) throw wrongState(campaign.status, 'reported on')
  const body = given(storable(asked.email?.body ?? ''))
  if (body === undefined) throw missingParameter({ message: 'email.body is missing', param: 'email.body' })
  const to = { param: 'email.to', most: mostRecipients }
  const recipients = await readAuthors(ctx, asked.email?.to ?? [], to)
  const { statistics } = await wholeStatistics(ctx, campaign, ['globalStats'])
  const language = asked.language ?? 'fr'
  const report = writeReport({ language, campaign: campaign.name, body, figures: statistics.globalStats })
  await writeToAuthors(
    ctx,
    recipients.map((recipient) => messageOf(ctx, { campaign, report, recipient })),
  )
}

/** Sent, or being sent; one that is interrupted still is. */
function hasFigures(campaign: CampaignRow): boolean {
  const status = inForce(campaign)
  return (
    status === 'sent' || status === 'in_process' || (status === 'suspended' && campaign.started_at !== null)
  )
}

type Written = { campaign: CampaignRow; report: WrittenReport; recipient: Address }

function messageOf(ctx: Ctx, { campaign, report, recipient }: Written): Outgoing {
  const from = plainSender(campaign.sender)
  const { subject, html, text } = report
  return {
    caller: ctx.caller,
    now: ctx.now,
    source: 'campaign',
    stream: 'transactional',
    from,
    recipient,
    subject,
    parts: { from, to: [recipient], html, text, headers: [] },
    attachments: [],
    tags: [],
    metadata: { report: campaign.id },
    messageId: `<${newUuid().replaceAll('-', '')}@${domainOf(from.email)}>`,
    track: { opens: false, clicks: false },
    suppressed: 'refuse',
  }
}

/** A name that is made for each recipient is nobody's here. */
function plainSender({ email, name }: Address): Address {
  return name === undefined || /\{[{%]/.test(name) ? { email } : { email, name }
}
