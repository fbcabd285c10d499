// Queues the message of every step that is due. The run moves on in the transaction that queues the message, so a kill
// at any line neither loses a step nor sends one twice; several processes share the work.
import type { Db } from '../../../kernel/db.ts'
import type { Log } from '../../../kernel/log.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import { isDatabaseDown } from '../../../kernel/refusals.ts'
import { readSettingsOf } from '../../accounts/settings/settings.ts'
import { readerOf } from '../../contacts/attributes/calculate.ts'
import { languageOf } from '../../contacts/unsubscribe/leave-words.ts'
import type { FindUnsubscribeKeys } from '../../contacts/unsubscribe/tokens.ts'
import { type Outgoing, queueMessages } from '../../messages/queue-messages.ts'
import { recipientSuppressed } from '../../messages/refusals.ts'
import { storedTemplate } from '../../transactional/stored-template.ts'
import type { FetchAttachment } from '../../transactional/v3/attachments.ts'
import { prepareStep, type StepNeeds } from './prepare-step.ts'
import type { Step } from './queries.ts'
import { automationDeleted } from './run-queries.ts'
import { scenarioSteps } from './scenario.ts'
import { FileOnItsWay, openStepFiles, type StepFiles } from './step-files.ts'
import {
  claimRuns,
  type DueRun,
  findUsedKeys,
  forgetErased,
  holdAutomations,
  type Move,
  moveRuns,
  type UsedAutomation,
} from './step-queries.ts'

export type AutomationNeeds = {
  db: Db
  log: Log
  baseUrl: string
  unsubscribeKeys: FindUnsubscribeKeys
  fetchAttachment: FetchAttachment
  now: () => Date
}

const portion = 50
// Templates are the customers': what takes longer leaves the rest of its portion to the next one.
const budgetMs = 2_000
// While files are on their way, others fall due.
const lookAgainMs = 500
// Files are kept until the turn is over: longer than one may take to come, and not for ever.
const turnMs = 120_000

/** Not to be called inside a transaction: each portion has its own. */
export async function runAutomations(needs: AutomationNeeds, stopping: AbortSignal): Promise<void> {
  const files = openStepFiles(needs.fetchAttachment)
  const begun = performance.now()
  while (!stopping.aborted && performance.now() - begun < turnMs) {
    if ((await runPortion(needs, files)) > 0) continue
    if (files.waiting().length === 0) return
    await files.next(lookAgainMs)
  }
}

/** Gives how many runs had their turn. Those whose file is on its way are left as they are. */
export async function runPortion(
  needs: AutomationNeeds,
  files: StepFiles = openStepFiles(needs.fetchAttachment),
): Promise<number> {
  const now = needs.now()
  const unsubscribeKeys = await needs.unsubscribeKeys()
  return needs.db.transaction(async (db) => {
    const runs = await claimRuns(db, now, { limit: portion, without: files.waiting() })
    if (runs.length === 0) return 0
    const found = await holdAutomations(db, runs.flatMap(automationOf))
    const automations = new Map(found.map((one) => [one.id, one]))
    const { baseUrl, log } = needs
    const work = { log, automations, steps: { now, baseUrl, unsubscribeKeys, files, ...readers(db, now) } }
    const decided = await decideAll(work, runs)
    const moves = await queueSteps(db, decided, now)
    await moveRuns(db, moves, now)
    const stopped = moves.filter(({ reason }) => reason === 'suppressed')
    if (stopped.length > 0) await forgetErased(db, stopped)
    return runs.length
  })
}

const automationOf = ({ account_id, automation_id }: DueRun) =>
  automation_id === null ? [] : { accountId: account_id, id: automation_id }

/** Each thing is read once a portion. */
function readers(db: Db, now: Date): Omit<StepNeeds, 'now' | 'baseUrl' | 'unsubscribeKeys' | 'files'> {
  const known = new Map<string, Promise<unknown>>()
  const once = <T>(name: string, ask: () => Promise<T>): Promise<T> => {
    const asked = (known.get(name) as Promise<T> | undefined) ?? ask()
    known.set(name, asked)
    return asked
  }
  return {
    readerOf: (accountId) => once(`attributes ${accountId}`, () => readerOf(db, accountId, now)),
    keyOf: (id) => once(`key ${id}`, () => keyOf(db, id)),
    settingsOf: (accountId) => once(`settings ${accountId}`, () => readSettingsOf(db, accountId)),
    templateOf: (accountId, id) =>
      once(`template ${accountId} ${id}`, () => storedTemplate(db, accountId, id)),
  }
}

async function keyOf(db: Db, id: string) {
  const [key] = await findUsedKeys(db, [id])
  if (!key) throw new Error(`the key ${id} is gone`)
  return key
}

type Work = { log: Log; automations: Map<string, UsedAutomation>; steps: StepNeeds }
type Decided = { run: DueRun; stepCount: number } & ({ outgoing: Outgoing } | { end: End })
type End = Pick<Move, 'status' | 'reason'>

/** As many as there is time for. */
async function decideAll(work: Work, runs: DueRun[]): Promise<Decided[]> {
  const begun = performance.now()
  const decided: Decided[] = []
  for (const run of runs) {
    if (performance.now() - begun > budgetMs) break
    const one = await decide(work, run)
    if (one) decided.push(one)
  }
  return decided
}

/** Nothing where its file is on its way. */
async function decide(work: Work, run: DueRun): Promise<Decided | undefined> {
  const automation = run.automation_id === null ? undefined : work.automations.get(run.automation_id)
  const steps = stepsOf(run, automation)
  const step = steps[run.next_step]
  const stepCount = Math.min(steps.length, run.schedule.length)
  const end = endOf(run, automation)
  if (end) return { run, stepCount, end }
  if (!step) return { run, stepCount, end: ended('finished', null) }
  try {
    const outgoing = await prepareStep(work.steps, run, step)
    return { run, stepCount, outgoing: { ...outgoing, listId: automation?.list_id ?? undefined } }
  } catch (error) {
    if (isDatabaseDown(error)) throw error
    if (error instanceof FileOnItsWay) return undefined
    if (!(error instanceof Refusal))
      work.log.error({ err: error, run: run.id }, 'a step of an automation failed')
    return {
      run,
      stepCount,
      end: ended('running', error instanceof Refusal ? error.message : 'internal error'),
    }
  }
}

const ended = (status: Move['status'], reason: string | null): End => ({ status, reason })

function stepsOf(run: DueRun, automation: UsedAutomation | undefined): Step[] {
  return automation?.steps ?? scenarioSteps(languageOf(run.attributes))
}

function endOf(run: DueRun, automation: UsedAutomation | undefined): End | undefined {
  if (automation?.status === 'deleted') return ended('stopped', automationDeleted)
  if (run.contact_status === 'unsubscribed') return ended('stopped', 'unsubscribed')
  if (automation?.list_id && run.left_list_ids.includes(automation.list_id))
    return ended('stopped', 'left the list')
  return automation?.status === 'paused' ? ended('paused', null) : undefined
}

/** What every run becomes: on to its next step, ended, or waiting for what stands in its way. */
async function queueSteps(db: Db, decided: Decided[], now: Date): Promise<Move[]> {
  const sending = decided.flatMap((one) => ('outgoing' in one ? one.outgoing : []))
  const results = await queueMessages(db, sending)
  const refused = new Map(sending.map((one, i) => [one, results[i]]))
  return decided.map((one) => {
    if ('end' in one)
      return one.end.status === 'running' ? waiting(one, one.end.reason, now) : at(one.run, one.end)
    const result = refused.get(one.outgoing)
    if (!(result instanceof Refusal)) return onward(one, now)
    if (result.code === recipientSuppressed.declaration.code)
      return at(one.run, ended('stopped', 'suppressed'))
    return waiting(one, result.message, now)
  })
}

function at({ id, account_id, next_step, schedule }: DueRun, { status, reason }: End): Move {
  const dueAt = schedule[next_step] ?? schedule.at(-1) ?? new Date(0)
  return { id, accountId: account_id, nextStep: next_step, dueAt, status, reason, waits: 0 }
}

// A step this late pushes the later ones back: they do not come on its heels.
const lateMs = 60_000

function onward({ run, stepCount }: Decided, now: Date): Move {
  const nextStep = run.next_step + 1
  const [planned, next] = [run.schedule[run.next_step], run.schedule[nextStep]]
  const moved = at({ ...run, next_step: nextStep }, ended('running', null))
  if (nextStep >= stepCount || !planned || !next) return { ...moved, status: 'finished' }
  const late = now.getTime() - planned.getTime()
  return { ...moved, dueAt: late > lateMs ? new Date(next.getTime() + late) : next }
}

const waitMs = 3_600_000
const mostWaits = 7 * 24

/** Quotas are raised, senders and templates mended: the step is tried every hour for a week. */
function waiting({ run }: Decided, reason: string | null, now: Date): Move {
  const waits = run.waits + 1
  if (waits > mostWaits) return at(run, ended('failed', reason))
  return { ...at(run, ended('running', reason)), waits, dueAt: new Date(now.getTime() + waitMs) }
}
