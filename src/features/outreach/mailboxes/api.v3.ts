import { Type } from 'typebox'
import { operation } from '../../../kernel/operation.ts'
import { notFound, secretUnopened } from '../../../kernel/refusals.ts'
import { closed, orNull } from '../../../kernel/schema.ts'
import { listQuery, ownLimits, pageBySlice } from '../../../kernel/v3/paging.ts'
import { outOfRange } from '../../../kernel/v3/refusals.ts'
import { moduleDisabled, idParams as params, reading, requireModule, settingUp } from '../module.ts'
import { utcDay } from '../planning/windows.ts'
import { rateSince } from './health.ts'
import { countMailboxes, listMailboxes } from './queries.ts'
import { Mailbox, showMailbox } from './show-mailbox.ts'
import {
  ChangedMailbox,
  changeMailbox,
  createMailbox,
  type MailboxNeeds,
  NewMailbox,
  readMailbox,
  removeMailbox,
  testChange,
  testMailbox,
  testNew,
} from './write-mailbox.ts'

const secret = ['smtp', 'imap']

export const listMailboxesV3 = operation({
  ...reading,
  name: 'mailbox.list',
  http: 'GET /v3/outreach/mailboxes',
  summary: 'List sending mailboxes with their health, newest first',
  query: closed(listQuery),
  reply: closed({
    count: Type.Integer(),
    mailboxes: Type.Array(Mailbox),
    next_cursor: orNull(Type.String()),
  }),
  refusals: [moduleDisabled, outOfRange],
}).run(async (ctx, { query }) => {
  await requireModule(ctx)
  const { accountId } = ctx.caller
  const days = { today: utcDay(ctx.now.getTime()), since: rateSince(ctx.now) }
  const list = { name: 'v3.mailboxes', filter: {}, ...ownLimits }
  const { rows, nextCursor } = await pageBySlice(ctx, query, list, (slice) =>
    listMailboxes(ctx.db, accountId, days, slice),
  )
  const { count } = await countMailboxes(ctx.db, accountId)
  return { count, mailboxes: rows.map((one) => showMailbox(one, ctx.now)), next_cursor: nextCursor }
})

export const createMailboxV3 = (needs: MailboxNeeds) =>
  operation({
    ...settingUp,
    name: 'mailbox.create',
    http: 'POST /v3/outreach/mailboxes',
    needs: ['email', 'smtp', 'imap'],
    summary: 'Declare a sending mailbox; both of its servers are logged in to',
    description:
      'Passwords and tokens are encrypted at rest and never given back. A new mailbox begins with ten messages a day ' +
      'and has its dailyLimit after three weeks. One whose servers cannot be logged in to is paused; ' +
      'health.lastError says why.',
    body: NewMailbox,
    secret,
    status: 201,
    reply: closed({ id: Type.Integer() }),
    refusals: [moduleDisabled],
    prepare: async (ctx, input) => {
      await requireModule(ctx)
      return { ...input, body: await testNew(needs, input.body) }
    },
  }).run(async (ctx, { body }) => ({ id: await createMailbox(needs, ctx, body) }))

export const getMailboxV3 = operation({
  ...reading,
  name: 'mailbox.get',
  http: 'GET /v3/outreach/mailboxes/{id}',
  summary: 'Read a sending mailbox with its health',
  params,
  reply: Mailbox,
  refusals: [moduleDisabled, notFound],
}).run(async (ctx, { params: { id } }) => {
  await requireModule(ctx)
  return showMailbox(await readMailbox(ctx, id), ctx.now)
})

export const updateMailboxV3 = (needs: MailboxNeeds) =>
  operation({
    ...settingUp,
    name: 'mailbox.update',
    http: 'PUT /v3/outreach/mailboxes/{id}',
    summary: 'Change, pause or resume a sending mailbox',
    description:
      'A server that is given is logged in to first; what is not given of it stays as it is, except that a new host ' +
      'needs the password again.',
    params,
    body: ChangedMailbox,
    secret,
    status: 204,
    reply: Type.Null(),
    refusals: [moduleDisabled, notFound, secretUnopened],
    prepare: async (ctx, input) => {
      await requireModule(ctx)
      await testChange(needs, ctx, input.params.id, input.body)
      return input
    },
  }).run(async (ctx, { params: { id }, body }) => {
    await changeMailbox(needs, ctx, id, body)
    return null
  })

export const deleteMailboxV3 = operation({
  ...settingUp,
  name: 'mailbox.delete',
  http: 'DELETE /v3/outreach/mailboxes/{id}',
  summary: 'Delete a sending mailbox; the threads that it began stop',
  description: 'A running sequence that has no other mailbox is paused, with a notice.',
  effect: 'irreversible',
  params,
  status: 204,
  reply: Type.Null(),
  refusals: [moduleDisabled, notFound],
}).run(async (ctx, { params: { id } }) => {
  await requireModule(ctx)
  await removeMailbox(ctx, id)
  return null
})

const Tested = closed({ ok: Type.Boolean(), error: orNull(Type.String()) })
const tested = (error: string | undefined) => ({ ok: error === undefined, error: error ?? null })

export const testMailboxV3 = (needs: MailboxNeeds) =>
  operation({
    ...settingUp,
    name: 'mailbox.test',
    http: 'POST /v3/outreach/mailboxes/{id}/test',
    summary: 'Log in to both servers of a mailbox, and say what they said',
    effect: 'dry',
    params,
    reply: closed({ smtp: Tested, imap: Tested }),
    refusals: [moduleDisabled, notFound, secretUnopened],
  }).run(async (ctx, { params: { id } }) => {
    await requireModule(ctx)
    const { smtp, imap } = await testMailbox(needs, ctx, id)
    return { smtp: tested(smtp), imap: tested(imap) }
  })
