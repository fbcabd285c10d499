// Creating, changing and moving a sequence.
import type { Ctx } from '../../../kernel/ctx.ts'
import { domainOf } from '../../../kernel/email-address.ts'
import { invalidParameter, notFound } from '../../../kernel/refusals.ts'
import { resolveNotice } from '../../accounts/notices/notices.ts'
import { readSettings } from '../../accounts/settings/settings.ts'
import { refuseForeignSender } from '../../accounts/usage/spend-sending.ts'
import { finishBeyond, stopOfSequence } from '../enrollments/stop-queries.ts'
import { requireIdentity } from '../identity/identity.ts'
import { findMailboxEmails, findMailboxIds } from '../mailboxes/queries.ts'
import { applyDelays } from './change-delays.ts'
import { stranded } from './pause-stranded.ts'
import {
  deleteSequence,
  findSequence,
  insertSequence,
  lockSequence,
  type SequenceRow,
  setStatus,
  unplanSequence,
  updateSequence,
} from './queries.ts'
import { readSequence, refuseBadSteps, type SequenceBody } from './read-sequence.ts'
import type { SequenceFields, Status } from './sequence.ts'
import { beginAnew, detachMessages } from './trial-queries.ts'

export async function createSequence(ctx: Ctx, body: SequenceBody): Promise<number> {
  const { timezone } = await readSettings(ctx)
  const fields = readSequence(body, {}, timezone)
  await refuseBad(ctx, fields, body)
  return Number((await insertSequence(ctx.db, ctx.caller.accountId, fields, ctx.now)).id)
}

const refOf = (ctx: Ctx, id: number | string) => ({ accountId: ctx.caller.accountId, id })

const unknown = () => notFound({ message: 'Sequence ID does not exist', param: 'id' })

export async function oneSequence(ctx: Ctx, id: number): Promise<SequenceRow> {
  const found = await findSequence(ctx.db, refOf(ctx, id))
  if (found) return found
  throw unknown()
}

export async function heldSequence(ctx: Ctx, id: number): Promise<SequenceRow> {
  const found = await lockSequence(ctx.db, refOf(ctx, id))
  if (found) return found
  throw unknown()
}

const fieldsOf = (found: SequenceRow): SequenceFields => ({
  name: found.name,
  mailboxIds: found.mailbox_ids,
  steps: found.steps,
  schedule: found.schedule,
  dailyLimit: found.daily_limit,
  stopOnReply: found.stop_on_reply,
})

export async function changeSequence(ctx: Ctx, id: number, body: SequenceBody): Promise<void> {
  const found = await heldSequence(ctx, id)
  const changed = (['steps', 'schedule', 'mailboxIds'] as const).find((field) => body[field])
  if (found.status === 'running' && changed)
    throw invalidParameter({
      message: `${changed} cannot be changed while it is running: pause it first`,
      param: changed,
    })
  const fields = readSequence(body, fieldsOf(found), found.schedule.timezone)
  await refuseBad(ctx, fields, body)
  await updateSequence(ctx.db, refOf(ctx, found.id), fields, ctx.now)
  const ref = { accountId: ctx.caller.accountId, sequenceId: found.id }
  await applyDelays(ctx.db, ref, { before: fieldsOf(found), now: fields })
}

async function refuseBad(ctx: Ctx, fields: SequenceFields, body: SequenceBody): Promise<void> {
  await refuseBadSteps(fields.steps)
  if (!body.mailboxIds) return
  const known = await findMailboxIds(ctx.db, ctx.caller.accountId, fields.mailboxIds.map(Number))
  const unknownId = fields.mailboxIds.find((id) => !known.some((one) => one.id === id))
  if (unknownId !== undefined)
    throw invalidParameter({ message: `There is no mailbox ${unknownId}`, param: 'mailboxIds' })
}

export async function removeSequence(ctx: Ctx, id: number): Promise<void> {
  const found = await heldSequence(ctx, id)
  if (found.status === 'running')
    throw invalidParameter({ message: 'A running sequence cannot be deleted: pause or stop it first' })
  refuseTestKey(ctx, found)
  await deleteSequence(ctx.db, refOf(ctx, found.id))
  await resolveStranded(ctx, found)
}

const resolveStranded = ({ db, caller, now }: Ctx, { id }: SequenceRow) =>
  resolveNotice(db, { accountId: caller.accountId, code: stranded, subject: id }, now)

/** Nothing that a test key asks for leaves the machine, nor does it keep what a live one asked for from leaving. */
export function refuseTestKey({ caller }: Ctx, { status, mode }: SequenceRow): void {
  if (caller.mode === 'live' || mode === 'test' || status === 'draft') return
  throw invalidParameter({
    message: 'A test key cannot do this with a sequence that sends for real',
    param: 'id',
  })
}

/** A key that may send from some domains only starts nothing in mailboxes of others. */
export async function refuseForeignMailboxes(
  { db, caller }: Ctx,
  { mailbox_ids }: SequenceRow,
): Promise<void> {
  if (caller.senderDomains === null) return
  const found = await findMailboxEmails(db, caller.accountId, mailbox_ids)
  for (const { email } of found) refuseForeignSender(caller, domainOf(email))
}

// stopped is the end; finished is what comes of itself, and may run again for those who are enrolled later.
const moves: Record<Status, Status[]> = {
  draft: ['draft', 'running', 'stopped'],
  running: ['running', 'paused', 'stopped', 'finished'],
  paused: ['paused', 'running', 'stopped', 'finished'],
  finished: ['finished', 'running', 'stopped'],
  stopped: ['stopped'],
}

export async function moveSequence(ctx: Ctx, id: number, status: Status): Promise<void> {
  const found = await heldSequence(ctx, id)
  if (!moves[found.status].includes(status))
    throw invalidParameter({
      message: `A sequence that is ${found.status} cannot become ${status}`,
      param: 'status',
    })
  if (status !== found.status || status === 'running') refuseTestKey(ctx, found)
  if (status === 'running') {
    await requireIdentity(ctx)
    if (found.mailbox_ids.length === 0)
      throw invalidParameter({ message: 'It has no mailbox left to send from', param: 'status' })
    await refuseForeignMailboxes(ctx, found)
  }
  const mode = status === 'running' ? ctx.caller.mode : undefined
  await setStatus(ctx.db, refOf(ctx, found.id), { status, mode, at: ctx.now })
  if (status !== 'paused') await resolveStranded(ctx, found)
  const ref = { accountId: ctx.caller.accountId, sequenceId: found.id }
  if (found.mode === 'test' && mode === 'live') await startForReal(ctx, found)
  if (status === 'running') await finishBeyond(ctx.db, ref, { steps: found.steps.length, at: ctx.now })
  else await unplanSequence(ctx.db, refOf(ctx, found.id))
  if (status === 'stopped' || status === 'finished')
    await stopOfSequence(ctx.db, ref, { reason: `sequence_${status}`, at: ctx.now })
}

/** Whoever had a step in the sandbox has had none: follow-ups would go to people who never got the first message. */
async function startForReal(ctx: Ctx, { id }: SequenceRow): Promise<void> {
  const ref = refOf(ctx, id)
  await detachMessages(ctx.db, ref)
  await beginAnew(ctx.db, ref, ctx.now)
}
