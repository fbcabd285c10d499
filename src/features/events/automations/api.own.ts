import { Type } from 'typebox'
import { refusalsOf } from '../../../kernel/collect.ts'
import { showId } from '../../../kernel/id.ts'
import { operation } from '../../../kernel/operation.ts'
import { pageOfRows } from '../../../kernel/page.ts'
import { notFound } from '../../../kernel/refusals.ts'
import { closed, orNull, pageOf, pageQuery, Time, words } from '../../../kernel/schema.ts'
import { senderDomainNotAllowed } from '../../accounts/usage/refusals.ts'
import {
  contentMissing,
  recipientInvalid,
  recipientSuppressed,
  templateInvalid,
} from '../../messages/refusals.ts'
import { CartBody, leaveCart, readRecipient } from './abandoned-cart.ts'
import { type AutomationRow, automationStatuses, listAutomations, triggerTypes } from './queries.ts'
import {
  AutomationBody,
  AutomationChange,
  changeAutomation,
  createAutomation,
  faultsOfAutomation,
  mostOfTrigger,
  readAutomation,
  removeAutomation,
  StepBody,
} from './write-automation.ts'

const Automation = closed({
  id: Type.String(),
  name: Type.String(),
  trigger_type: words(triggerTypes),
  event_name: orNull(Type.String()),
  list_id: orNull(Type.Integer()),
  steps: Type.Array(StepBody),
  status: words(automationStatuses),
  created_at: Time,
  updated_at: Time,
})

function show(row: AutomationRow) {
  return {
    ...row,
    id: showId('aut', row.id),
    list_id: row.list_id === null ? null : Number(row.list_id),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

const area = 'Events' as const
const read = { area, scope: 'analytics.read', effect: 'read' } as const
const write = { area, scope: 'email.send', effect: 'change' } as const
const declaring = {
  maxBodyBytes: 10 * 1024 * 1024,
  secret: ['steps'],
  refusals: [contentMissing, templateInvalid, senderDomainNotAllowed],
}
const params = closed({ id: Type.String({ maxLength: 100 }) })

export const listAutomationsOwn = operation({
  ...read,
  name: 'automation.list',
  http: 'GET /api/v1/automations',
  summary: 'List automations, newest first',
  query: closed(pageQuery),
  reply: pageOf(Automation),
}).run(async (ctx, { query: { limit = 50, cursor } }) => {
  const { rows, nextCursor } = await pageOfRows(
    ctx,
    { list: 'automations', filter: {}, limit, cursor },
    (after, most) => listAutomations(ctx.db, ctx.caller.accountId, { after, limit: most }),
    ({ id }) => id,
  )
  return { data: rows.map(show), next_cursor: nextCursor }
})

export const createAutomationOwn = operation({
  ...write,
  ...declaring,
  name: 'automation.create',
  http: 'POST /api/v1/automations',
  summary: 'Declare an automation: messages that follow an event, an addition to a list or an abandoned cart',
  description:
    'Contents are templates: event is what the event told ({{ event.cart }} of a cart), contact the attributes ' +
    'of the person. A body without {{ unsubscribe_url }} gets a footer with it. ' +
    `At most ${mostOfTrigger} active ones start with the same event or list.`,
  idempotent: true,
  body: AutomationBody,
  findFaults: faultsOfAutomation,
  status: 201,
  reply: Automation,
}).run(async (ctx, { body }) => show(await createAutomation(ctx, body)))

export const getAutomationOwn = operation({
  ...read,
  name: 'automation.get',
  http: 'GET /api/v1/automations/{id}',
  summary: 'Read an automation',
  params,
  reply: Automation,
  refusals: [notFound],
}).run(async (ctx, { params: { id } }) => show(await readAutomation(ctx, id)))

export const updateAutomationOwn = operation({
  ...write,
  ...declaring,
  name: 'automation.update',
  http: 'PUT /api/v1/automations/{id}',
  summary: 'Change an automation, pause it, or let it go on',
  description:
    'What is not given stays. Runs under way keep their times and get the new contents; while it is paused they ' +
    'wait and none begins but of carts, which wait too. Trigger or steps given by a live key make it live; a test ' +
    'key does not take that back.',
  params,
  body: AutomationChange,
  findFaults: (ctx, { trigger_type: _known, ...body }) => faultsOfAutomation(ctx, body),
  reply: Automation,
  refusals: [notFound, ...declaring.refusals],
}).run(async (ctx, { params: { id }, body }) => show(await changeAutomation(ctx, id, body)))

export const deleteAutomationOwn = operation({
  ...write,
  name: 'automation.delete',
  http: 'DELETE /api/v1/automations/{id}',
  summary: 'Delete an automation; its runs end',
  effect: 'irreversible',
  params,
  reply: closed({ id: Type.String(), deleted: Type.Boolean() }),
  refusals: [notFound],
}).run(async (ctx, { params: { id } }) => {
  await removeAutomation(ctx, id)
  return { id, deleted: true }
})

export const abandonedCartOwn = operation({
  ...write,
  name: 'automation.abandoned_cart',
  http: 'POST /api/v1/automations/abandoned-cart',
  summary: 'Remind somebody of the cart they left',
  description:
    'By the account’s automation of that trigger, or else three reminders after 1, 24 and 72 hours. The same cart ' +
    'again changes what the reminders show; a purchase of the address ends them. While the automation is paused ' +
    'they wait, whatever the times.',
  effect: 'irreversible',
  body: CartBody,
  findFaults: (_ctx, { email = '' }) => refusalsOf(() => readRecipient(email)),
  secret: ['cart'],
  status: 202,
  reply: closed({ run_id: Type.String(), scheduled: Type.Array(Time) }),
  refusals: [recipientInvalid, recipientSuppressed, senderDomainNotAllowed],
}).run(async (ctx, { body }) => {
  const { id, schedule } = await leaveCart(ctx, body)
  return { run_id: showId('run', id), scheduled: schedule.map((at) => at.toISOString()) }
})
