/** Soft bounces after which an address counts as dead. */
export type SoftBounceLimit = {
  bounces: number
  /** On so many different days, or one bad evening would use them up. */
  days: number
  withinDays: number
}

export const softBounceLimit: SoftBounceLimit = { bounces: 5, days: 4, withinDays: 30 }

/** More of one day never change the answer: as the others are on so many days, these make up the number. */
export const countedADay = softBounceLimit.bounces - softBounceLimit.days + 1

const dayMs = 24 * 60 * 60 * 1000

export type SoftHistory = { softBouncesAt: Date[]; lastDeliveredAt: Date | null; now: Date }

/** A delivery starts the count anew. Days are those of UTC. */
export function reachesSoftBounceLimit(history: SoftHistory, limit = softBounceLimit): boolean {
  const { softBouncesAt, lastDeliveredAt, now } = history
  const since = Math.max(now.getTime() - limit.withinDays * dayMs, lastDeliveredAt?.getTime() ?? 0)
  const counted = softBouncesAt.map((at) => at.getTime()).filter((at) => at > since && at <= now.getTime())
  const days = new Set(counted.map((at) => Math.floor(at / dayMs)))
  return counted.length >= limit.bounces && days.size >= limit.days
}
