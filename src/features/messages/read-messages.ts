import type { Ctx } from '../../kernel/ctx.ts'
import type { Db } from '../../kernel/db.ts'
import { normalEmail } from '../../kernel/email-address.ts'
import { readId, showId } from '../../kernel/id.ts'
import { pageOfRows } from '../../kernel/page.ts'
import { notFound } from '../../kernel/refusals.ts'
import { type Status, shownEvents } from './model.ts'
import {
  type EventRow,
  findMessage,
  type ListFilter,
  listEvents,
  listMessages,
  type MessageRow,
} from './queries.ts'

/** Messages that leave by another way and are shown among these; their identifiers are of the same kind. */
export type OtherMessages = {
  list(db: Db, accountId: string, filter: ListFilter): Promise<MessageRow[]>
  find(db: Db, accountId: string, id: string): Promise<MessageRow | undefined>
  events(db: Db, accountId: string, id: string): Promise<EventRow[]>
}

export const messageUnknown = () =>
  notFound({
    message: 'There is no message of that identifier.',
    param: 'id',
    hint: 'message.list (GET /api/v1/messages) finds messages by address, tag and status.',
  })

export async function readMessage(others: OtherMessages, ctx: Ctx, shownId: string) {
  const { accountId } = ctx.caller
  const id = readId('msg', shownId)
  const own = id === undefined ? undefined : await findMessage(ctx.db, accountId, id)
  const found = own ?? (id === undefined ? undefined : await others.find(ctx.db, accountId, id))
  if (!found) throw messageUnknown()
  const events = await (own ? listEvents : others.events)(ctx.db, accountId, found.id)
  const shown = events.filter(({ type }) => shownEvents.some((one) => one === type))
  return { ...showMessage(found), events: shown.map(showEvent) }
}

type Wanted = { status?: Status; tag?: string; to?: string; limit?: number; cursor?: string }

export async function pageOfMessages(others: OtherMessages, ctx: Ctx, wanted: Wanted) {
  const { status, tag, to, limit = 50, cursor } = wanted
  const recipient = to === undefined ? undefined : (normalEmail(to) ?? to)
  const { rows, nextCursor } = await pageOfRows(
    ctx,
    { list: 'messages', filter: { status, tag, to }, limit, cursor },
    (after, most) => listAll(others, ctx, { status, tag, to: recipient, after, limit: most }),
    ({ id }) => id,
  )
  return { data: rows.map(showMessage), next_cursor: nextCursor }
}

async function listAll(others: OtherMessages, { db, caller }: Ctx, filter: ListFilter) {
  const [own, rest] = await Promise.all([
    listMessages(db, caller.accountId, filter),
    others.list(db, caller.accountId, filter),
  ])
  if (rest.length === 0) return own
  return [...own, ...rest].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, filter.limit)
}

function showMessage(row: MessageRow) {
  const time = (at: Date | null) => at?.toISOString() ?? null
  return {
    id: showId('msg', row.id),
    status: row.status,
    from: withName(row.sender, row.sender_name),
    to: row.recipient,
    subject: row.subject,
    tag: row.tag,
    metadata: row.metadata ?? {},
    source: row.source,
    campaign_id: row.campaign_id === null ? null : Number(row.campaign_id),
    template_id: row.template_id === null ? null : Number(row.template_id),
    message_id: row.message_id,
    created_at: row.created_at.toISOString(),
    scheduled_at: time(row.scheduled_at),
    sent_at: time(row.sent_at),
    delivered_at: time(row.delivered_at),
    attempts: row.attempts,
    last_error: row.last_error,
    held_reason: row.held_reason,
  }
}

function withName(email: string, name: string | null): string {
  return name === null ? email : `${name} <${email}>`
}

function showEvent({ id, type, at, data }: EventRow) {
  return { id: showId('evt', id), type: type as (typeof shownEvents)[number], at: at.toISOString(), ...data }
}
