import { type Static, Type } from 'typebox'
import type { Ctx } from '../../kernel/ctx.ts'
import { closed, orNull, Time, words } from '../../kernel/schema.ts'
import { listQuery, ownLimits, pageBySlice } from '../../kernel/v3/paging.ts'
import { statuses } from '../messages/model.ts'
import { countListed } from './progress.ts'
import {
  listRecipientEvents,
  listRecipients,
  type RecipientEvent,
  type RecipientRow,
} from './recipient-list-queries.ts'
import { readCampaign, refOf } from './write-campaign.ts'

const Text = Type.String()

export const RecipientsQuery = closed({ ...listQuery, status: Type.Optional(words(statuses)) })

export const RecipientsPage = closed({
  count: Type.Integer(),
  recipients: Type.Array(
    closed({
      email: Text,
      contactId: orNull(Type.Integer()),
      status: words(statuses),
      sentAt: orNull(Time),
      deliveredAt: orNull(Time),
      events: Type.Array(
        closed({
          name: words(['open', 'click', 'bounce', 'unsubscribe']),
          time: Time,
          ip: Type.Optional(Text),
          userAgent: Type.Optional(Text),
          classification: Type.Optional(Text),
          url: Type.Optional(Text),
          bounceType: Type.Optional(Text),
          reason: Type.Optional(Text),
        }),
      ),
    }),
  ),
  next_cursor: orNull(Text),
})

type Page = Static<typeof RecipientsPage>
type ShownEvent = Page['recipients'][number]['events'][number]

export async function pageOfRecipients(
  ctx: Ctx,
  id: number,
  query: Static<typeof RecipientsQuery>,
): Promise<Page> {
  await readCampaign(ctx, id)
  const ref = refOf(ctx, id)
  const { status } = query
  const list = { name: 'v3.campaign.recipients', filter: { id, status }, ...ownLimits }
  const { rows, nextCursor } = await pageBySlice(ctx, query, list, (slice) =>
    listRecipients(ctx.db, ref, { status, slice }),
  )
  const events = await listRecipientEvents(
    ctx.db,
    ref.accountId,
    rows.map((row) => row.id),
  )
  const eventsOf = (row: RecipientRow) => events.filter(({ message_id }) => message_id === row.id)
  return {
    count: await countListed(ctx.db, ref, status ?? 'total'),
    recipients: rows.map((row) => showRecipient(row, eventsOf(row))),
    next_cursor: nextCursor,
  }
}

function showRecipient(row: RecipientRow, events: RecipientEvent[]) {
  return {
    email: row.recipient,
    contactId: row.contact_id === null ? null : Number(row.contact_id),
    status: row.status,
    sentAt: row.sent_at?.toISOString() ?? null,
    deliveredAt: row.delivered_at?.toISOString() ?? null,
    events: events.map(showEvent),
  }
}

function showEvent({ type, at, data }: RecipientEvent): ShownEvent {
  const text = (name: string) => (typeof data[name] === 'string' ? data[name] : undefined)
  const shown = {
    ip: text('ip'),
    userAgent: text('user_agent'),
    classification: text('classification'),
    url: text('url'),
    bounceType: text('bounce_type'),
    reason: text('reason'),
  }
  const there = Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== undefined))
  return { name: type as ShownEvent['name'], time: at.toISOString(), ...there }
}
