// How much of a campaign may go out in a day while a sending address is new: a quota that grows from day to day. A day
// begins with the first message in it, so that one in which nothing went out does not let more out in the next.

export type Warmup = { initialQuota: number; increaseRate: number }
/** The number of the day, what went in it and when the next one begins, in milliseconds. */
export type Warmed = { day: number; fed: number; until: number }

const dayMs = 24 * 3_600_000

export function dayOfWarmup(warmed: Warmed | null, now: Date): Warmed {
  const at = now.getTime()
  if (warmed && at < warmed.until) return warmed
  return { day: warmed ? warmed.day + 1 : 0, fed: 0, until: at + dayMs }
}

export function leftInDay({ initialQuota, increaseRate }: Warmup, { day, fed }: Warmed): number {
  const quota = Math.floor(initialQuota * (1 + increaseRate / 100) ** day)
  return Math.max(0, Math.min(quota, Number.MAX_SAFE_INTEGER) - fed)
}
