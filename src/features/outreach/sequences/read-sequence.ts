// A sequence as callers give it.
import { type Static, Type } from 'typebox'
import { invalidParameter, missingParameter } from '../../../kernel/refusals.ts'
import { closed } from '../../../kernel/schema.ts'
import { given, oneLine, optional, storable } from '../../../kernel/v3/lenient.ts'
import { refuseBadTemplate, refuseHiddenFooter } from '../../transactional/v3/render.ts'
import { Id } from '../module.ts'
import type { Schedule } from '../planning/windows.ts'
import { hasContent } from './has-content.ts'
import type { SequenceFields, Step } from './sequence.ts'

const Text = Type.Optional(Type.String())

const StepGiven = closed({
  delayDays: optional(Type.Integer({ description: 'After the step before really went out; 0 to 365' })),
  subject: Text,
  text: Text,
  html: Text,
  sameThread: optional(
    Type.Boolean({ description: 'An answer in the thread of the first message; true when absent' }),
  ),
})

const ScheduleGiven = closed({
  timezone: Text,
  days: optional(Type.Array(Type.Integer({ description: '1 is Monday, 7 is Sunday' }))),
  from: Text,
  to: Text,
})

export const SequenceBody = closed({
  name: optional(Type.String()),
  mailboxIds: optional(Type.Array(Id)),
  steps: optional(Type.Array(StepGiven)),
  schedule: optional(ScheduleGiven),
  dailyLimit: optional(
    Type.Integer({ description: 'Messages a day of its zone; null: what its mailboxes may send' }),
  ),
  stopOnReply: optional(Type.Boolean({ description: 'true when absent' })),
})

export type SequenceBody = Static<typeof SequenceBody>

const longestName = 200
const mostMailboxes = 200
const mostSteps = 20
const longestText = 100_000

/** What is not given is as it was; a new one needs a name, mailboxes and steps. */
export function readSequence(
  body: SequenceBody,
  known: Partial<SequenceFields>,
  timezone: string,
): SequenceFields {
  // null leaves it as it was; an empty one is none.
  const name = given(body.name ?? known.name)
  if (name === undefined) throw missingParameter({ message: 'name is missing', param: 'name' })
  if (name.length > longestName)
    throw invalidParameter({ message: `name must have at most ${longestName} characters`, param: 'name' })
  const usual = { timezone, days: [1, 2, 3, 4, 5], from: '09:00', to: '18:00' }
  return {
    name: oneLine(name),
    mailboxIds: readMailboxIds(body.mailboxIds, known.mailboxIds),
    steps: readSteps(body.steps, known.steps),
    schedule: readSchedule(body.schedule ?? {}, known.schedule ?? usual),
    dailyLimit: readLimit(body.dailyLimit, known.dailyLimit ?? null),
    stopOnReply: body.stopOnReply ?? known.stopOnReply ?? true,
  }
}

function readMailboxIds(ids: number[] | null | undefined, known: string[] | undefined): string[] {
  const wanted = ids ? [...new Set(ids)].map(String) : known
  if (!wanted) throw missingParameter({ message: 'mailboxIds is missing', param: 'mailboxIds' })
  if (ids && (wanted.length === 0 || wanted.length > mostMailboxes))
    throw invalidParameter({
      message: `mailboxIds must have 1 to ${mostMailboxes} entries`,
      param: 'mailboxIds',
    })
  return wanted
}

function readLimit(limit: number | null | undefined, known: number | null): number | null {
  if (limit === undefined || limit === null) return limit === undefined ? known : null
  if (limit >= 1 && limit <= 1_000_000) return limit
  throw invalidParameter({ message: 'dailyLimit must be at least 1', param: 'dailyLimit' })
}

function readSteps(steps: Static<typeof StepGiven>[] | null | undefined, known: Step[] | undefined): Step[] {
  if (!steps) {
    if (known) return known
    throw missingParameter({ message: 'steps is missing', param: 'steps' })
  }
  if (steps.length === 0 || steps.length > mostSteps)
    throw invalidParameter({ message: `steps must have 1 to ${mostSteps} entries`, param: 'steps' })
  return steps.map(readStep)
}

function readStep(one: Static<typeof StepGiven>, at: number): Step {
  const param = `steps[${at}]`
  const bad = (message: string) => invalidParameter({ message: `${message} in ${param}`, param })
  const delayDays = one.delayDays ?? 0
  if (delayDays < 0 || delayDays > 365) throw bad('delayDays must be between 0 and 365')
  const sameThread = at > 0 && (one.sameThread ?? true)
  const [subject, text, html] = [given(one.subject), given(one.text), given(one.html)]
  if (subject === undefined && !sameThread) throw bad('subject is missing')
  if ((subject ?? '').length > 998 || [text, html].some((each) => (each ?? '').length > longestText))
    throw bad('subject, text or html is too long')
  if (!hasContent({ text, html })) throw bad('text is missing')
  const contents = { subject: storable(subject ?? ''), text: storable(text ?? '') }
  return { delayDays, ...contents, ...(html === undefined ? {} : { html: storable(html) }), sameThread }
}

const clock = /^([01]\d|2[0-3]):[0-5]\d$/

function readSchedule(one: Static<typeof ScheduleGiven>, known: Schedule): Schedule {
  const timezone = given(one.timezone) ?? known.timezone
  if (!isZone(timezone))
    throw invalidParameter({
      message: 'schedule.timezone must be the IANA name of a time zone, such as Europe/Paris',
      param: 'schedule.timezone',
    })
  const days = one.days ? [...new Set(one.days)].sort((a, b) => a - b) : known.days
  if (days.length === 0 || days.some((day) => day < 1 || day > 7))
    throw invalidParameter({ message: 'schedule.days must be some of 1 to 7', param: 'schedule.days' })
  const [from, to] = [given(one.from) ?? known.from, given(one.to) ?? known.to]
  if (!clock.test(from) || !clock.test(to) || from >= to)
    throw invalidParameter({
      message: 'schedule.from and schedule.to must be times such as 09:00 and 18:00, the first one earlier',
      param: 'schedule',
    })
  return { timezone, days, from, to }
}

function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

export async function refuseBadSteps(steps: Step[]): Promise<void> {
  for (const [at, { subject, text, html }] of steps.entries()) {
    await refuseBadTemplate(subject, 'text', `steps[${at}].subject`)
    await refuseBadTemplate(text, 'text', `steps[${at}].text`)
    if (html === undefined) continue
    await refuseBadTemplate(html, 'html', `steps[${at}].html`)
    // Who writes stands in the footer, which is there whatever the step holds.
    await refuseHiddenFooter(html, `steps[${at}].html`, [])
  }
}
