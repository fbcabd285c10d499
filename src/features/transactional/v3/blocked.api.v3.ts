import { Type } from 'typebox'
import { normalEmail } from '../../../kernel/email-address.ts'
import { operation } from '../../../kernel/operation.ts'
import { notFound } from '../../../kernel/refusals.ts'
import { closed, orNull, Time, words } from '../../../kernel/schema.ts'
import { rangeQuery, readRange } from '../../../kernel/v3/dates.ts'
import { given, optional, partsOf, storable } from '../../../kernel/v3/lenient.ts'
import { listQuery, pageBySlice } from '../../../kernel/v3/paging.ts'
import { outOfRange } from '../../../kernel/v3/refusals.ts'
import { unblock } from '../../contacts/contacts/write-contact.ts'
import { blockedSender } from '../../suppressions/queries.ts'
import { erasedStays, liftBounced, type Reason } from '../../suppressions/suppressions.ts'
import { type BlockedRow, countBlocked, listBlocked } from './blocked-queries.ts'

const Text = Type.String()

const codes = [
  'unsubscribedViaMA',
  'unsubscribedViaEmail',
  'adminBlocked',
  'unsubscribedViaApi',
  'hardBounce',
  'contactFlaggedAsSpam',
] as const

type Why = { code: (typeof codes)[number]; message: string }

const whys: Record<Reason | typeof blockedSender, Why> = {
  hard_bounce: { code: 'hardBounce', message: 'Hard bounce' },
  // The provider has no word for it.
  soft_bounce_limit: { code: 'hardBounce', message: 'Too many soft bounces in a row' },
  complaint: { code: 'contactFlaggedAsSpam', message: 'Contact flagged an email as spam' },
  unsubscribe: { code: 'unsubscribedViaEmail', message: 'Unsubscribed through a link in an email' },
  manual: { code: 'adminBlocked', message: 'Blocked by the account' },
  [blockedSender]: { code: 'adminBlocked', message: 'Blocked by the account for this sender' },
}

const show = ({ email, sender, created_at, reason }: BlockedRow) => ({
  email,
  senderEmail: sender,
  blockedAt: created_at.toISOString(),
  reason: whys[reason as Reason] ?? whys.manual,
})

const longestRangeDays = 3650

export const listBlockedContacts = operation({
  name: 'blocked_contact.list',
  http: 'GET /v3/smtp/blockedContacts',
  area: 'Transactional',
  summary: 'List blocked or unsubscribed transactional contacts',
  scope: 'contacts.read',
  effect: 'read',
  query: closed({
    ...rangeQuery,
    senders: Type.Optional(
      Type.Array(Type.String({ maxLength: 4000 }), {
        maxItems: 100,
        description: 'Addresses, one by one or separated by commas',
      }),
    ),
    ...listQuery,
  }),
  reply: closed({
    count: Type.Integer(),
    contacts: Type.Array(
      closed({
        email: Text,
        senderEmail: Text,
        blockedAt: Time,
        reason: closed({ code: words(codes), message: Text }),
      }),
    ),
    next_cursor: orNull(Text),
  }),
  refusals: [outOfRange],
}).run(async (ctx, { query }) => {
  const senders = partsOf(query.senders ?? [])
    .map((one) => normalEmail(one) ?? storable(one).toLowerCase())
    .filter((one) => one !== '')
  const filter = {
    ...readRange(query, longestRangeDays),
    senders: senders.length > 0 ? senders : undefined,
  }
  const list = { name: 'v3.blocked', filter, usual: 50, most: 100 }
  const { accountId } = ctx.caller
  const { rows, nextCursor } = await pageBySlice(ctx, query, list, (slice) =>
    listBlocked(ctx.db, accountId, filter, slice),
  )
  const { count } = await countBlocked(ctx.db, accountId, filter)
  return { count, contacts: rows.map(show), next_cursor: nextCursor }
})

export const deleteBlockedContact = operation({
  name: 'blocked_contact.delete',
  http: 'DELETE /v3/smtp/blockedContacts/{email}',
  area: 'Transactional',
  summary: 'Unblock a transactional contact',
  scope: 'contacts.write',
  effect: 'change',
  params: closed({ email: Type.String({ maxLength: 320 }) }),
  status: 204,
  reply: Type.Null(),
  refusals: [notFound, erasedStays],
}).run(async (ctx, { params }) => {
  await unblock(ctx, params.email)
  return null
})

export const deleteHardbouncesV3 = operation({
  name: 'blocked_contact.delete_bounced',
  http: 'POST /v3/smtp/deleteHardbounces',
  area: 'Transactional',
  summary: 'Unblock the addresses that bounced: one of them, those of some days, or all',
  scope: 'contacts.write',
  effect: 'change',
  body: closed({ startDate: optional(Text), endDate: optional(Text), contactEmail: optional(Text) }),
  status: 204,
  reply: Type.Null(),
  refusals: [outOfRange],
}).run(async (ctx, { body }) => {
  const [startDate, endDate] = [body.startDate ?? undefined, body.endDate ?? undefined]
  const email = given(body.contactEmail ?? undefined)
  await liftBounced(ctx, { email, ...readRange({ startDate, endDate }, longestRangeDays) })
  return null
})
