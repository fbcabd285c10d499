// What became of everybody whom an automation wrote to.
import { Type } from 'typebox'
import { normalEmail } from '../../../kernel/email-address.ts'
import { showId } from '../../../kernel/id.ts'
import { operation } from '../../../kernel/operation.ts'
import { pageOfRows } from '../../../kernel/page.ts'
import { notFound } from '../../../kernel/refusals.ts'
import { closed, orNull, pageOf, pageQuery, Time, words } from '../../../kernel/schema.ts'
import { listRuns, type RunRow, runStatuses } from './list-queries.ts'
import { readAutomation } from './write-automation.ts'

const Run = closed({
  id: Type.String(),
  automation_id: orNull(Type.String({ description: 'null: the reminders of carts that every account has' })),
  email: Type.String(),
  cart_id: orNull(Type.String()),
  status: words(runStatuses),
  reason: orNull(Type.String({ description: 'Why it ended, or what its next step waits for' })),
  steps: Type.Integer(),
  steps_done: Type.Integer(),
  next_at: orNull(Time),
  started_at: Time,
  ended_at: orNull(Time),
})

function show({ id, automation_id, next_step, due_at, started_at, ended_at, ...rest }: RunRow) {
  return {
    ...rest,
    id: showId('run', id),
    automation_id: automation_id === null ? null : showId('aut', automation_id),
    steps_done: next_step,
    next_at: rest.status === 'running' ? due_at.toISOString() : null,
    started_at: started_at.toISOString(),
    ended_at: ended_at?.toISOString() ?? null,
  }
}

export const listRunsOwn = operation({
  area: 'Events',
  scope: 'analytics.read',
  effect: 'read',
  name: 'automation.runs',
  http: 'GET /api/v1/automations/runs',
  summary: 'List the runs of automations, newest first: who is on the way, how far, and why one ended',
  query: closed({
    automation_id: Type.Optional(Type.String({ maxLength: 100 })),
    status: Type.Optional(words(runStatuses)),
    email: Type.Optional(Type.String({ maxLength: 320 })),
    ...pageQuery,
  }),
  reply: pageOf(Run),
  refusals: [notFound],
}).run(async (ctx, { query: { limit = 50, cursor, ...asked } }) => {
  const found = asked.automation_id === undefined ? undefined : await readAutomation(ctx, asked.automation_id)
  const email =
    asked.email === undefined ? undefined : (normalEmail(asked.email) ?? asked.email.toLowerCase())
  const filter = { automationId: found?.id, status: asked.status, email }
  const { rows, nextCursor } = await pageOfRows(
    ctx,
    { list: 'automation_runs', filter, limit, cursor },
    (after, most) => listRuns(ctx.db, ctx.caller.accountId, filter, { after, limit: most }),
    ({ id }) => id,
  )
  return { data: rows.map(show), next_cursor: nextCursor }
})
