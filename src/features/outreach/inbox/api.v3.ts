import { type Static, Type } from 'typebox'
import { operation } from '../../../kernel/operation.ts'
import { notFound } from '../../../kernel/refusals.ts'
import { closed, orNull, Time, words } from '../../../kernel/schema.ts'
import { optional } from '../../../kernel/v3/lenient.ts'
import { listQuery, ownLimits, pageBySlice } from '../../../kernel/v3/paging.ts'
import { outOfRange } from '../../../kernel/v3/refusals.ts'
import { senderDomainNotAllowed } from '../../accounts/usage/refusals.ts'
import { recipientSuppressed } from '../../messages/refusals.ts'
import {
  Id,
  legalIdentityMissing,
  moduleDisabled,
  idParams as params,
  reading,
  requireModule,
  sending,
  writing,
} from '../module.ts'
import { classifications } from '../reading/classify.ts'
import { answerReply } from './answer-reply.ts'
import { changeReply, readReply } from './change-reply.ts'
import { countReplies, listReplies, type ReplyRow } from './reply-queries.ts'

const states = ['new', 'read', 'archived'] as const

const Reply = closed({
  id: Type.Integer(),
  sequenceId: orNull(Type.Integer()),
  prospectId: orNull(Type.Integer()),
  mailboxId: Type.Integer(),
  from: Type.String(),
  fromName: Type.String(),
  subject: Type.String(),
  text: Type.String(),
  html: orNull(Type.String({ description: 'As it came from a stranger: not safe to be shown as it is' })),
  receivedAt: Time,
  classification: orNull(words(classifications)),
  confidence: Type.Number({ description: 'From 0 to 1; 1 when a person said it' }),
  reason: Type.String({ description: 'Why it is taken for what it is' }),
  state: words(states),
})

const numberOf = (id: string | null) => (id === null ? null : Number(id))

function show(found: ReplyRow): Static<typeof Reply> {
  return {
    id: Number(found.id),
    sequenceId: numberOf(found.sequence_id),
    prospectId: numberOf(found.prospect_id),
    mailboxId: Number(found.mailbox_id),
    from: found.sender,
    fromName: found.sender_name,
    subject: found.subject,
    text: found.body_text,
    html: found.body_html,
    receivedAt: found.received_at.toISOString(),
    classification: found.classification,
    confidence: Math.round(found.confidence * 100) / 100,
    reason: found.reason,
    state: found.state,
  }
}

const longestListed = 10_000

export const listRepliesV3 = operation({
  ...reading,
  name: 'inbox.list',
  http: 'GET /v3/outreach/inbox',
  summary: 'List the replies to outreach sequences, newest first',
  description: `Of long ones the first ${longestListed} characters; HTML is given when one reply is read.`,
  query: closed({
    ...listQuery,
    state: Type.Optional(words(states)),
    classification: Type.Optional(
      words([...classifications, 'none'], { description: 'none: those that nobody could tell' }),
    ),
    sequenceId: Type.Optional(Id),
    mailboxId: Type.Optional(Id),
    prospectId: Type.Optional(Id),
  }),
  reply: closed({ count: Type.Integer(), replies: Type.Array(Reply), next_cursor: orNull(Type.String()) }),
  refusals: [moduleDisabled, outOfRange],
}).run(async (ctx, { query }) => {
  await requireModule(ctx)
  const { state, classification, sequenceId, mailboxId, prospectId } = query
  const filter = {
    ...{ state, sequenceId, mailboxId, prospectId },
    classification: classification === 'none' ? null : classification,
  }
  const list = { name: 'v3.inbox', filter, ...ownLimits }
  const { accountId } = ctx.caller
  const { rows, nextCursor } = await pageBySlice(ctx, query, list, (slice) =>
    listReplies(ctx.db, accountId, filter, { ...slice, longest: longestListed }),
  )
  return {
    count: await countReplies(ctx.db, accountId, filter),
    replies: rows.map(show),
    next_cursor: nextCursor,
  }
})

export const getReplyV3 = operation({
  ...reading,
  name: 'inbox.get',
  http: 'GET /v3/outreach/inbox/{id}',
  summary: 'Read a reply',
  params,
  reply: Reply,
  refusals: [moduleDisabled, notFound],
}).run(async (ctx, { params: { id } }) => {
  await requireModule(ctx)
  return show(await readReply(ctx, id, { hold: false }))
})

export const updateReplyV3 = operation({
  ...writing,
  name: 'inbox.update',
  http: 'PUT /v3/outreach/inbox/{id}',
  summary: 'Change the classification or the state of a reply',
  description:
    'A classification that is given stays. unsubscribe suppresses the person in the whole account and ends their ' +
    'sequences; another one in its place lifts the suppression that this reply brought about, and no other. refusal ' +
    'ends the sequences of the person too, and so does interested where the sequence has stopOnReply.',
  params,
  body: closed({
    classification: Type.Optional(
      Type.Union([Type.Unsafe<null>({ enum: [null] }), words(classifications), Type.Null()], {
        description: 'null: none of these',
      }),
    ),
    state: optional(words(states)),
  }),
  status: 204,
  reply: Type.Null(),
  refusals: [moduleDisabled, notFound],
}).run(async (ctx, { params: { id }, body }) => {
  await requireModule(ctx)
  await changeReply(ctx, id, { classification: body.classification, state: body.state ?? undefined })
  return null
})

export const answerReplyV3 = operation({
  ...sending,
  effect: 'irreversible',
  name: 'inbox.reply',
  http: 'POST /v3/outreach/inbox/{id}/reply',
  summary: 'Answer a reply from the mailbox that received it, in the same thread',
  description: 'It leaves as soon as the mailbox works, with the footer of every message, and at most once.',
  perMinute: 30,
  idempotent: true,
  params,
  body: closed({
    text: optional(Type.String({ maxLength: 200_000 })),
    html: optional(Type.String({ maxLength: 500_000 })),
  }),
  secret: ['text', 'html'],
  status: 202,
  reply: closed({ messageId: Type.String() }),
  refusals: [moduleDisabled, notFound, legalIdentityMissing, recipientSuppressed, senderDomainNotAllowed],
}).run(async (ctx, { params: { id }, body }) => {
  await requireModule(ctx)
  return { messageId: await answerReply(ctx, id, body) }
})
