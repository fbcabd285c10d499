// Reports that somebody takes a message for abuse: RFC 5965.
import type { IncomingMail } from './parse-mail.ts'
import { blocksOf, type Reported, reportedBy } from './returned.ts'

export type Complaint = Reported & {
  /** As the report has it, such as abuse or fraud. */
  type: string
  /** Some reports are about something else: that it was no abuse after all, or how the message was signed. */
  isComplaint: boolean
}

export function readComplaint(mail: IncomingMail): Complaint | undefined {
  const report = mail.parts.find(({ type }) => type === 'message/feedback-report')
  if (!report) return undefined
  const block = blocksOf(report.content).find((each) => each.has('feedback-type'))
  const type = /^[\w-]{1,40}/.exec(block?.get('feedback-type') ?? '')?.[0].toLowerCase() ?? ''
  return { ...reportedBy(mail), type, isComplaint: !others.has(type) }
}

const others = new Set(['not-spam', 'auth-failure'])
