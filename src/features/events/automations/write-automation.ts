// Declaring an automation. What could not be sent is refused here, and not when a step is due.
import { type Static, Type } from 'typebox'
import { collector, together } from '../../../kernel/collect.ts'
import type { Ctx } from '../../../kernel/ctx.ts'
import { newUuid, readId, showId } from '../../../kernel/id.ts'
import { eventName } from '../../../kernel/patterns.ts'
import type { Refusal } from '../../../kernel/refusal.ts'
import { invalidParameter, missingParameter, notFound } from '../../../kernel/refusals.ts'
import { closed, words } from '../../../kernel/schema.ts'
import { resolveNotice } from '../../accounts/notices/notices.ts'
import { holdLists } from '../../contacts/lists/queries.ts'
import { SendRequest } from '../../transactional/send-request.ts'
import { faultsOfSteps } from './check-steps.ts'
import {
  type AutomationFields,
  type AutomationRow,
  automationStatuses,
  countLocked,
  deleteAutomation,
  findAutomation,
  insertAutomation,
  lockAutomation,
  type Step,
  triggerTypes,
  updateAutomation,
} from './queries.ts'
import { resumeRuns } from './run-queries.ts'

const mostSteps = 50
/** Each event, and each addition to a list, starts a run of all of them in the transaction that records it. */
export const mostOfTrigger = 50
const longestDelay = 366 * 24 * 60

export const StepBody = closed({
  delay_minutes: Type.Number({
    minimum: 0,
    maximum: longestDelay,
    description: 'Since the step before, or since the trigger; may be a fraction',
  }),
  subject: SendRequest.properties.subject,
  html: SendRequest.properties.html,
  template_id: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
  from: SendRequest.properties.from,
})

const fields = {
  name: Type.String({ minLength: 1, maxLength: 255 }),
  trigger_type: words(triggerTypes),
  event_name: Type.Optional(Type.String({ pattern: eventName, description: 'Of a custom event' })),
  list_id: Type.Optional(
    Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Of an addition to a list' }),
  ),
  steps: Type.Array(StepBody, { minItems: 1, maxItems: mostSteps }),
}

export const AutomationBody = closed({
  ...fields,
  status: Type.Optional(words(automationStatuses, { description: 'active when absent' })),
})

export const AutomationChange = closed({
  ...fields,
  name: Type.Optional(fields.name),
  trigger_type: Type.Optional(fields.trigger_type),
  steps: Type.Optional(fields.steps),
  status: Type.Optional(words(automationStatuses)),
})

type AutomationBody = Static<typeof AutomationBody>
type AutomationChange = Static<typeof AutomationChange>

export async function readAutomation(ctx: Ctx, shownId: string): Promise<AutomationRow> {
  return orUnknown(await withId(shownId, (id) => findAutomation(ctx.db, ctx.caller.accountId, id)))
}

export async function createAutomation(ctx: Ctx, body: AutomationBody): Promise<AutomationRow> {
  const of = { accountId: ctx.caller.accountId, id: newUuid(), at: ctx.now }
  await refuseBadBody(ctx, body)
  const wanted = fieldsOf(ctx, body)
  await refuseTooMany(ctx, of.id, wanted)
  return insertAutomation(ctx.db, of, wanted)
}

/** What is not given stays. Runs under way keep their times and get the new contents. */
export async function changeAutomation(ctx: Ctx, shownId: string, change: AutomationChange) {
  const { accountId } = ctx.caller
  const found = orUnknown(await withId(shownId, (id) => lockAutomation(ctx.db, accountId, id)))
  const body = { ...bodyOf(found, change), ...change }
  // What has been broken from outside since can still be paused and renamed; what is given anew is looked at.
  const isAnew = isGivenAnew(change)
  if (isAnew || body.status === 'active') await refuseBadBody(ctx, body)
  const wanted = fieldsOf(ctx, body)
  if (found.status !== 'active' || isAnew) await refuseTooMany(ctx, found.id, wanted)
  const changed = await updateAutomation(ctx.db, { accountId, id: found.id, at: ctx.now }, wanted, isAnew)
  if (wanted.status === 'active') await letRunsGoOn(ctx, found.id)
  return changed
}

async function letRunsGoOn({ db, caller: { accountId }, now }: Ctx, id: string): Promise<void> {
  await resumeRuns(db, accountId, id)
  await resolveNotice(db, { accountId, code: 'automation_paused', subject: showId('aut', id) }, now)
}

const isGivenAnew = ({ trigger_type, event_name, list_id, steps }: AutomationChange) =>
  [trigger_type, event_name, list_id, steps].some((given) => given !== undefined)

/** Its runs end when their turn comes, or make room for another of their cart. */
export async function removeAutomation(ctx: Ctx, shownId: string): Promise<void> {
  const { accountId } = ctx.caller
  const gone = await withId(shownId, async (id) => {
    if ((await deleteAutomation(ctx.db, { accountId, id, at: ctx.now })) === 0) return undefined
    await letRunsGoOn(ctx, id)
    return id
  })
  orUnknown(gone)
}

async function withId<T>(shown: string, find: (id: string) => Promise<T | undefined>) {
  const id = readId('aut', shown)
  return id === undefined ? undefined : find(id)
}

const automationUnknown = () =>
  notFound({
    message: 'There is no automation of that identifier.',
    param: 'id',
    hint: 'automation.list (GET /api/v1/automations) shows which automations there are.',
  })

function orUnknown<T>(found: T | undefined): T {
  if (found === undefined) throw automationUnknown()
  return found
}

// What belongs to another trigger than the new one does not stay.
function bodyOf(found: AutomationRow, change: AutomationChange): AutomationBody {
  const { name, trigger_type, event_name, list_id, steps, status } = found
  const isSame = change.trigger_type === undefined || change.trigger_type === trigger_type
  return {
    name,
    trigger_type,
    ...(isSame && event_name !== null && { event_name }),
    ...(isSame && list_id !== null && { list_id: Number(list_id) }),
    steps,
    status,
  }
}

async function refuseBadBody(ctx: Ctx, body: AutomationBody): Promise<void> {
  const refused = together(await faultsOfAutomation(ctx, body))
  if (refused) throw refused
}

/** All that is wrong with what is given; without a trigger nothing is said of what belongs to it. */
export async function faultsOfAutomation(ctx: Ctx, body: AutomationChange): Promise<Refusal[]> {
  const { refusals, step } = collector()
  if (body.trigger_type !== undefined) refusals.push(...faultsOfTrigger(body))
  await step(() => refuseUnknownList(ctx, body.list_id))
  return [...refusals, ...(await faultsOfSteps(ctx, body.steps ?? []))]
}

async function refuseTooMany({ db, caller }: Ctx, id: string, wanted: AutomationFields): Promise<void> {
  if (wanted.status !== 'active' || wanted.trigger_type === 'abandoned_cart') return
  if ((await countLocked(db, { accountId: caller.accountId, id }, wanted)) < mostOfTrigger) return
  throw invalidParameter({
    message: `${mostOfTrigger} active automations start with that trigger already, which is the most there may be.`,
    param: wanted.event_name === null ? 'list_id' : 'event_name',
    hint: 'Pause or delete one that is no longer used.',
  })
}

function fieldsOf({ caller }: Ctx, body: AutomationBody): AutomationFields {
  return {
    name: body.name,
    trigger_type: body.trigger_type,
    event_name: body.event_name ?? null,
    list_id: body.list_id ?? null,
    steps: body.steps,
    offsets: offsetsOf(body.steps),
    status: body.status ?? 'active',
    keyId: caller.keyId,
    mode: caller.mode,
  }
}

const triggerFields = { event_name: 'custom_event', list_id: 'list_addition' } as const

function faultsOfTrigger(body: AutomationChange): Refusal[] {
  return (['event_name', 'list_id'] as const).flatMap((param) => {
    const [isGiven, isNeeded] = [body[param] !== undefined, body.trigger_type === triggerFields[param]]
    const about = `the trigger ${body.trigger_type}`
    if (isNeeded && !isGiven)
      return [missingParameter({ message: `${param} is missing for ${about}.`, param })]
    if (!isGiven || isNeeded) return []
    return [invalidParameter({ message: `${param} does not belong to ${about}.`, param })]
  })
}

async function refuseUnknownList({ db, caller }: Ctx, id: number | undefined): Promise<void> {
  if (id === undefined || (await holdLists(db, caller.accountId, [String(id)])).length > 0) return
  throw invalidParameter({
    message: `There is no list ${id}.`,
    param: 'list_id',
    hint: 'GET /v3/contacts/lists tells which lists there are.',
  })
}

/** Minutes from the trigger to each step. */
function offsetsOf(steps: Step[]): number[] {
  let total = 0
  return steps.map((step) => {
    total += step.delay_minutes
    return total
  })
}
