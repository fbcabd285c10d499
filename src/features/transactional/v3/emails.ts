// The provider's log of transactional mail, and its scheduled mail.
import type { Ctx } from '../../../kernel/ctx.ts'
import { normalEmail } from '../../../kernel/email-address.ts'
import { readId } from '../../../kernel/id.ts'
import { missingParameter, notFound } from '../../../kernel/refusals.ts'
import { readRange } from '../../../kernel/v3/dates.ts'
import { storable } from '../../../kernel/v3/lenient.ts'
import { pageBySlice } from '../../../kernel/v3/paging.ts'
import { unspend } from '../../accounts/usage/spend-sending.ts'
import type { Status } from '../../messages/model.ts'
import { listEvents } from '../../messages/queries.ts'
import {
  type CancelRef,
  cancelQueued,
  countEmails,
  countScheduled,
  type EmailFilter,
  findEmailBody,
  isScheduled,
  listEmails,
  listScheduled,
  type ScheduledFilter,
  type ScheduledRef,
} from './email-queries.ts'
import { nameInLog, type ScheduledState, scheduledStates } from './event-words.ts'
import { contentOf } from './relayed-content.ts'

type Wanted = {
  email?: string
  messageId?: string
  templateId?: number
  startDate?: string
  endDate?: string
  limit?: number
  offset?: number
  sort?: 'asc' | 'desc'
  cursor?: string
}

const longestRangeDays = 31

export async function pageOfEmails(ctx: Ctx, query: Wanted) {
  const filter: EmailFilter = {
    email: query.email ? (normalEmail(query.email) ?? storable(query.email)) : undefined,
    messageId: query.messageId ? bracketed(query.messageId) : undefined,
    templateId: query.templateId,
    ...readRange(query, longestRangeDays),
  }
  if (!filter.email && !filter.messageId && filter.templateId === undefined) {
    throw missingParameter({
      message: 'Either of email, templateId or messageId is required',
      param: 'email',
    })
  }
  const { accountId } = ctx.caller
  const list = { name: 'v3.emails', filter, usual: 500, most: 1000 }
  const { rows, nextCursor } = await pageBySlice(ctx, query, list, (slice) =>
    listEmails(ctx.db, accountId, filter, slice),
  )
  return { ...(await countEmails(ctx.db, accountId, filter)), rows, nextCursor }
}

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export async function readEmail(ctx: Ctx, uuid: string) {
  const id = uuidForm.test(uuid) ? uuid : readId('msg', uuid)
  const found = id === undefined ? undefined : await findEmailBody(ctx.db, ctx.caller.accountId, id)
  if (!found) throw notFound({ message: 'There is no email of that uuid.' })
  const events = await listEvents(ctx.db, ctx.caller.accountId, found.id)
  return {
    email: found.raw ? { ...found, ...(await contentOf(found.raw)) } : found,
    events: events.map(({ type, at, data }) => ({ name: nameInLog(type, data), time: at.toISOString() })),
  }
}

export async function cancelEmail(ctx: Ctx, identifier: string): Promise<void> {
  if (await cancelWaiting(ctx, refOf(identifier))) return
  throw notFound({ message: 'There is no scheduled email of that messageId or batchId, or it has left.' })
}

/** What waits does not leave, and counts for nobody. False where there was nothing of the kind. */
export async function cancelWaiting(ctx: Ctx, which: CancelRef): Promise<boolean> {
  const { accountId } = ctx.caller
  const cancelled = await cancelQueued(ctx.db, accountId, which)
  for (const { key_id: keyId, accepted_on, count } of cancelled)
    await unspend(ctx.db, { accountId, keyId }, count, accepted_on)
  return cancelled.length > 0
}

const statusesOf: Record<ScheduledState, Status[]> = {
  queued: ['queued', 'held'],
  inProgress: [],
  processed: ['sent', 'delivered', 'suppressed'],
  error: ['failed', 'cancelled'],
}

const stateOf = (status: Status) =>
  scheduledStates.find((state) => statusesOf[state].includes(status)) ?? 'processed'

type Paging = Pick<Wanted, 'limit' | 'offset' | 'sort' | 'cursor' | 'startDate' | 'endDate'>

/** A batch gives a list, a message its state alone, whatever else is asked for. */
export async function readScheduled(
  ctx: Ctx,
  identifier: string,
  query: Paging & { status?: ScheduledState },
) {
  const [which, { accountId }] = [refOf(identifier), ctx.caller]
  const { is_known: isKnown } = await isScheduled(ctx.db, accountId, which)
  if (!isKnown) throw notFound({ message: 'There is no scheduled email of that messageId or batchId.' })
  const isBatch = 'batchId' in which
  const filter: ScheduledFilter = {
    which,
    statuses: isBatch && query.status ? statusesOf[query.status] : undefined,
    range: isBatch ? readRange(query, longestRangeDays) : undefined,
  }
  const list = { name: 'v3.scheduled', filter, usual: 100, most: 500 }
  // A single message has no pages: a cursor is another list's.
  const paging = isBatch ? query : { cursor: query.cursor }
  const { rows, nextCursor } = await pageBySlice(ctx, paging, list, (slice) =>
    listScheduled(ctx.db, accountId, filter, slice),
  )
  const states = rows.map(({ status, created_at, scheduled_at }) => ({
    createdAt: created_at.toISOString(),
    scheduledAt: scheduled_at.toISOString(),
    status: stateOf(status),
  }))
  if (!isBatch) return states[0] ?? {}
  const { count } = await countScheduled(ctx.db, accountId, filter)
  return { count, batches: states, next_cursor: nextCursor }
}

function refOf(identifier: string): ScheduledRef {
  return uuidForm.test(identifier) ? { batchId: identifier } : { messageId: bracketed(identifier) }
}

/** Message identifiers are looked up with or without their brackets. */
export function bracketed(messageId: string): string {
  const bare = messageId.replaceAll('\u0000', '').trim()
  return bare.startsWith('<') ? bare : `<${bare}>`
}
