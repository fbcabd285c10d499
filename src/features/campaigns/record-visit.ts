// A recipient looks at a message as a page. Kept like a click, with who or what it was; statistics choose later.
import type { Db } from '../../kernel/db.ts'
import { readSettingsOf } from '../accounts/settings/settings.ts'
import { findForEvent } from '../messages/event-queries.ts'
import { recordEvent } from '../messages/record-event.ts'
import { classifyActivity } from '../messages/tracking/classify.ts'
import type { Visit } from '../messages/tracking/record-activity.ts'
import type { MirroredRef } from './mirror-queries.ts'

export async function recordVisit(db: Db, of: MirroredRef, visit: Visit): Promise<void> {
  const { click_tracking } = await readSettingsOf(db, of.accountId)
  const message = click_tracking && (await findForEvent(db, of.messageId))
  if (!message) return
  const { classification, reason } = classifyActivity({
    ...visit,
    kind: 'click',
    sentAt: message.sent_at,
    deliveredAt: message.delivered_at,
    recentClicks: undefined,
  })
  const told = { id: message.id, accountId: message.account_id, recipient: message.recipient, at: visit.at }
  await recordEvent(db, told, 'mirror', {
    campaign_id: of.campaignId,
    ip: visit.ip,
    user_agent: visit.userAgent?.slice(0, 500) ?? null,
    classification,
    classification_reason: reason,
  })
}
