// The provider has several vocabularies for the same events.

const logNames: Record<string, string> = {
  delivery: 'delivered',
  open: 'opened',
  click: 'clicked',
  complaint: 'spam',
  unsubscribe: 'unsubscribed',
}

/** In the log of one email. */
export function nameInLog(type: string, data: Record<string, unknown>): string {
  if (type === 'bounce') return data.bounce_type === 'hard' ? 'hardBounce' : 'softBounce'
  return logNames[type] ?? type
}

/** In reports and lists of events. */
export const reportWords = [
  'requests',
  'delivered',
  'hardBounces',
  'softBounces',
  'blocked',
  'spam',
  'invalid',
  'deferred',
  'clicks',
  'opened',
  'loadedByProxy',
  'unsubscribed',
  'error',
] as const

export type ReportWord = (typeof reportWords)[number]

/** Also what filters may say: `bounces` is both kinds. */
export const filterWords = [...reportWords, 'bounces'] as const
export type FilterWord = (typeof filterWords)[number]

export function wordsFor(filter: FilterWord): ReportWord[] {
  return filter === 'bounces' ? ['hardBounces', 'softBounces'] : [filter]
}

/** What became of scheduled mail. */
export const scheduledStates = ['inProgress', 'queued', 'processed', 'error'] as const
export type ScheduledState = (typeof scheduledStates)[number]
