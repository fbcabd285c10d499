// What a message is: a complaint, a bounce, a machine's answer or a person's; in this order.
import { isAutomatic } from './automatic.ts'
import { absenceIn, classifyText, hasLeft, saysToHaveLeft, type Verdict } from './classify.ts'
import { newText } from './new-text.ts'
import type { IncomingMail } from './parse-mail.ts'
import { type Bounce, readBounces } from './read-bounce.ts'
import { type Complaint, readComplaint } from './read-complaint.ts'
import { returnDate } from './return-date.ts'

export type Reading =
  | { kind: 'complaint'; complaint: Complaint }
  | { kind: 'bounce'; bounces: Bounce[] }
  | {
      kind: 'automatic'
      verdict: Verdict
      /** They are gone for good. */
      hasLeft: boolean
      /** Until when they are away, when they say so. */
      awayUntil: Date | null
    }
  | { kind: 'reply'; verdict: Verdict }

export function readMessage(mail: IncomingMail, receivedAt: Date): Reading {
  const complaint = readComplaint(mail)
  if (complaint) return { kind: 'complaint', complaint }
  const bounces = readBounces(mail)
  if (bounces.length > 0) return { kind: 'bounce', bounces }
  const [text, automatic] = [newText(mail), isAutomatic(mail)]
  const absence = absenceIn(text, mail.subject, automatic)
  if (automatic || absence > 0) return fromMachine(mail, { text, absence, receivedAt })
  if (saysToHaveLeft(text, mail.subject)) return gone
  return { kind: 'reply', verdict: classifyText(text, mail.subject) }
}

const gone: Reading = {
  kind: 'automatic',
  verdict: { classification: null, confidence: 0.9, reason: 'has left the company' },
  hasLeft: true,
  awayUntil: null,
}

type Found = { text: string; absence: number; receivedAt: Date }

function fromMachine(mail: IncomingMail, { text, absence, receivedAt }: Found): Reading {
  if (hasLeft(text)) return gone
  const awayUntil = returnDate(`${mail.subject}. ${text}`, receivedAt) ?? null
  if (absence === 0) {
    const verdict = { classification: null, confidence: 0, reason: 'sent by a machine' }
    return { kind: 'automatic', verdict, hasLeft: false, awayUntil: null }
  }
  const confidence = Math.round(Math.min(0.99, absence) * 100) / 100
  const verdict = { classification: 'absence' as const, confidence, reason: 'is away' }
  return { kind: 'automatic', verdict, hasLeft: false, awayUntil }
}
