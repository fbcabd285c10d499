// What a reply says. Order matters: who asks to be left alone is heard before who declines, who declines before who
// is interested; and what is not clear is left to a person.
import {
  absence,
  absenceSubject,
  absenceSubjectAlone,
  isAway,
  isAwayUntil,
  left,
  leftForSure,
  talks,
} from './absence-phrases.ts'
import { fold } from './fold.ts'
import { objection } from './objection-phrases.ts'
import * as phrases from './phrases.ts'
import {
  leaveAlone,
  unsubscribe as leaving,
  notUnsubscribe,
  stopAlone,
  wordAlone,
} from './unsubscribe-phrases.ts'

export const classifications = ['interested', 'refusal', 'absence', 'unsubscribe'] as const
export type Classification = (typeof classifications)[number]

export type Verdict = { classification: Classification | null; confidence: number; reason: string }

const enough = 0.6
const longestRead = 1_000

/** Of the new text alone: what is quoted would speak for us. */
export function classifyText(text: string, subject: string): Verdict {
  const folded = fold(text).slice(0, longestRead)
  const asked = without(folded, notUnsubscribe)
  const stop = saysStop(text) || asksInSubject(folded, fold(subject)) ? 0.9 : 0
  const unsubscribe = Math.max(stop, score([...leaving, ...objection], asked))
  if (unsubscribe >= enough) return verdict('unsubscribe', unsubscribe, 'asks not to be written to')
  if (phrases.referral.test(folded)) return unsure(0.3, 'names another person, or says to be the wrong one')
  const refusal = score(phrases.refusal, folded)
  const interest = score(phrases.interested, without(folded, phrases.negated))
  if (refusal >= enough) {
    const doubt = interest >= enough ? 0.2 : 0
    return verdict('refusal', refusal - doubt, 'declines')
  }
  if (interest >= enough && refusal === 0) return verdict('interested', interest, 'shows interest')
  return unsure(Math.max(refusal, interest), 'nothing clear is said')
}

/** A line of its own, with a greeting above it at most; what follows is a name. */
function saysStop(text: string): boolean {
  const lines = text.slice(0, longestRead).split('\n')
  if (wordAlone.test(fold(lines.join(' ')))) return true
  const said = [...lines.keys()].filter((at) => lines[at]?.trim())
  return said.slice(0, 2).some((at) => stopAlone.test(fold(lines[at] ?? '')) && !goesOn(lines[at + 1]))
}

const goesOn = (line = '') => /^\s*\p{Ll}/u.test(line)

const asksInSubject = (text: string, subject: string) =>
  subject === 'unsubscribe' || (text === '' && (stopAlone.test(subject) || leaveAlone.test(subject)))

/** Whether a message tells of an absence; `isAutomatic`: its headers say that a machine sent it. */
export function absenceIn(text: string, subject: string, isAutomatic: boolean): number {
  const folded = fold(text).slice(0, longestRead)
  const bySubject = absenceSubject.test(fold(subject)) ? 0.7 : 0
  const byBody = score(absence, folded)
  const both = 1 - (1 - bySubject) * (1 - byBody)
  if (isAutomatic) return both > 0 ? Math.min(0.99, both + 0.2) : 0
  if (absenceSubjectAlone.test(fold(subject))) return both
  // Somebody who mentions a holiday is not a machine: subject and words are needed, or nothing but the absence.
  if (bySubject > 0 && byBody > 0) return both
  const isAll = isAway.test(folded) && isAwayUntil.test(folded) && !talks.test(folded)
  return isAll && saysNothingElse(text, subject) ? Math.max(byBody, enough) : 0
}

const saysNothingElse = (text: string, subject: string) => classifyText(text, subject).classification === null

export const hasLeft = (text: string) => left.test(fold(text).slice(0, longestRead))

/** Also of a message that no header tells to be a machine's. */
export const saysToHaveLeft = (text: string, subject: string) =>
  leftForSure.test(fold(text).slice(0, longestRead)) && saysNothingElse(text, subject)

const without = (text: string, patterns: RegExp[]) =>
  patterns.reduce((rest, pattern) => rest.replaceAll(pattern, ' '), text)

const score = (of: phrases.Phrase[], text: string) =>
  1 - of.reduce((doubt, [pattern, weight]) => (pattern.test(text) ? doubt * (1 - weight) : doubt), 1)

const verdict = (classification: Classification, confidence: number, reason: string): Verdict => ({
  classification,
  confidence: Math.round(Math.min(0.99, confidence) * 100) / 100,
  reason,
})

const unsure = (confidence: number, reason: string): Verdict => ({
  classification: null,
  confidence: Math.round(Math.min(0.5, confidence) * 100) / 100,
  reason,
})
