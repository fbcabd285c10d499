// What happens with a sequence: who joins it, how far it is, what comes next.
import { Type } from 'typebox'
import { operation } from '../../../kernel/operation.ts'
import { missingParameter, notFound } from '../../../kernel/refusals.ts'
import { closed, orNull, Time, words } from '../../../kernel/schema.ts'
import { optional } from '../../../kernel/v3/lenient.ts'
import { listQuery, ownLimits, pageBySlice } from '../../../kernel/v3/paging.ts'
import { outOfRange } from '../../../kernel/v3/refusals.ts'
import { senderDomainNotAllowed } from '../../accounts/usage/refusals.ts'
import { enroll, unenroll } from '../enrollments/enroll.ts'
import { skipReasons, unenrollSkipReasons } from '../enrollments/queries.ts'
import {
  counting,
  Id,
  legalIdentityMissing,
  moduleDisabled,
  idParams as params,
  reading,
  requireModule,
  sending,
} from '../module.ts'
import { addressesOf, foresee } from '../planning/preview.ts'
import { readStats, Stats } from './read-stats.ts'
import { statuses } from './sequence.ts'
import { moveSequence, oneSequence } from './write-sequence.ts'

const prospects = {
  prospectIds: optional(Type.Array(Id)),
  emails: optional(Type.Array(Type.String({ maxLength: 320 }))),
}

const skippedFor = <const Reasons extends readonly string[]>(reasons: Reasons) =>
  Type.Array(
    closed({
      prospect: Type.Union([Type.Integer(), Type.String()], { description: 'As it was given' }),
      reason: words(reasons),
    }),
  )

export const enrollV3 = operation({
  ...sending,
  name: 'sequence.enroll',
  http: 'POST /v3/outreach/campaigns/{id}/enroll',
  summary: 'Enrol prospects, up to 10000 at once',
  description:
    'Those that are unknown, suppressed, unsubscribed, erased or enrolled already are skipped, each with its reason. ' +
    'A sequence that had finished runs again. With again, those for whom it was stopped go on where they were, not ' +
    'before the next step is due; who refused or complained does not.',
  effect: 'irreversible',
  perMinute: 60,
  params,
  body: closed({
    ...prospects,
    again: optional(
      Type.Boolean({
        description:
          'Also those for whom it was stopped before its last step, and those who were deleted and added again',
      }),
    ),
  }),
  reply: closed({ enrolled: Type.Integer(), skipped: skippedFor(skipReasons) }),
  refusals: [moduleDisabled, notFound, legalIdentityMissing, senderDomainNotAllowed],
}).run(async (ctx, { params: { id }, body }) => {
  await requireModule(ctx)
  return enroll(ctx, id, body)
})

export const unenrollV3 = operation({
  ...sending,
  name: 'sequence.unenroll',
  http: 'POST /v3/outreach/campaigns/{id}/unenroll',
  summary: 'End a sequence for some prospects, up to 10000 at once',
  description:
    'They get nothing more of it and stay prospects; the others go on. Those that are unknown or not under way are ' +
    'skipped, each with its reason. Enrolling them with again lets them go on.',
  params,
  body: closed(prospects),
  reply: closed({ stopped: Type.Integer(), skipped: skippedFor(unenrollSkipReasons) }),
  refusals: [moduleDisabled, notFound],
}).run(async (ctx, { params: { id }, body }) => {
  await requireModule(ctx)
  return unenroll(ctx, id, body)
})

export const setSequenceStatusV3 = operation({
  ...sending,
  name: 'sequence.status',
  http: 'POST /v3/outreach/campaigns/{id}/status',
  needs: ['status'],
  summary: 'Start, pause, stop or finish an outreach sequence',
  description:
    'running sends for real; with a test key, to the sandbox, and a live one then begins anew with the first ' +
    'messages. stopped is final. A sequence with nobody left to write to becomes finished by itself.',
  effect: 'irreversible',
  params,
  body: closed({ status: Type.Optional(words(statuses)) }),
  reply: closed({ status: words(statuses) }),
  refusals: [moduleDisabled, notFound, legalIdentityMissing, senderDomainNotAllowed],
}).run(async (ctx, { params: { id }, body: { status } }) => {
  await requireModule(ctx)
  if (status === undefined) throw missingParameter({ message: 'status is missing', param: 'status' })
  await moveSequence(ctx, id, status)
  return { status }
})

export const getSequenceStatsV3 = operation({
  ...counting,
  name: 'sequence.stats',
  http: 'GET /v3/outreach/campaigns/{id}/stats',
  summary: 'Read the statistics of an outreach sequence',
  params,
  reply: Stats,
  refusals: [moduleDisabled, notFound],
}).run(async (ctx, { params: { id } }) => {
  await requireModule(ctx)
  return readStats(ctx, await oneSequence(ctx, id))
})

const Foreseen = closed({
  prospectId: Type.Integer(),
  email: Type.String(),
  step: Type.Integer({ description: 'From 1' }),
  at: Time,
  mailboxId: Type.Integer(),
  mailbox: Type.String(),
})

export const planSequenceV3 = operation({
  ...reading,
  name: 'sequence.plan',
  http: 'GET /v3/outreach/campaigns/{id}/plan',
  summary: 'See who would be written to in the next seven days, when and from which mailbox',
  description: 'As if the sequence were running, by the planner that sends. The first ones come first.',
  params,
  query: closed({ limit: listQuery.limit, offset: listQuery.offset, cursor: listQuery.cursor }),
  reply: closed({ count: Type.Integer(), plan: Type.Array(Foreseen), next_cursor: orNull(Type.String()) }),
  refusals: [moduleDisabled, notFound, outOfRange],
}).run(async (ctx, { params: { id }, query }) => {
  await requireModule(ctx)
  const { plan, mailboxes } = await foresee(ctx, await oneSequence(ctx, id))
  const list = { name: 'v3.sequence.plan', filter: { id }, ...ownLimits }
  const { rows, nextCursor } = await pageBySlice(ctx, query, list, async ({ after, offset, limit }) =>
    plan.filter((one) => after === undefined || one.id > after).slice(offset, offset + limit),
  )
  const emails = await addressesOf(ctx, rows)
  const shown = rows.map((one) => ({
    prospectId: Number(one.prospectId),
    email: emails.get(one.prospectId) ?? '',
    step: one.step + 1,
    at: new Date(one.at).toISOString(),
    mailboxId: Number(one.mailboxId),
    mailbox: mailboxes.get(one.mailboxId) ?? '',
  }))
  return { count: plan.length, plan: shown, next_cursor: nextCursor }
})
