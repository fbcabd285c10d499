import type { Schedule } from '../planning/windows.ts'

export const statuses = ['draft', 'running', 'paused', 'stopped', 'finished'] as const
export type Status = (typeof statuses)[number]

/** A subject is missing only where the step goes on in the thread of the first. */
export type Step = { delayDays: number; subject: string; text: string; html?: string; sameThread: boolean }

export type SequenceFields = {
  name: string
  mailboxIds: string[]
  steps: Step[]
  schedule: Schedule
  dailyLimit: number | null
  stopOnReply: boolean
}
