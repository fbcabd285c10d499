// What came back of a message of a mailbox, in the form of the events of all other messages.
import { newUuid } from '../../../kernel/id.ts'
import type { Said } from '../../../kernel/ports.ts'
import { storable } from '../../../kernel/v3/lenient.ts'
import type { BounceVerdict } from '../../messages/bounces/classes.ts'
import { bounceData } from '../../messages/record-event.ts'

export type OutreachEvent = {
  id: string
  type: 'bounce' | 'complaint'
  at: Date
  data: Record<string, unknown>
}

/** Mail says anything, half of a character too, which JSON in the database does not take. */
export const bounceEvent = (said: Said, verdict: BounceVerdict, at: Date): OutreachEvent => ({
  id: newUuid(),
  type: 'bounce',
  at,
  data: bounceData({ ...said, message: storable(said.message) }, verdict),
})

export const complaintEvent = (feedbackType: string, at: Date): OutreachEvent => ({
  id: newUuid(),
  type: 'complaint',
  at,
  data: { feedback_type: storable(feedbackType) },
})
