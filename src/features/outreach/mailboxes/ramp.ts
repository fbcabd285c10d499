// A new mailbox begins with few messages a day, and has its limit after three weeks.
const first = 10
const days = 21
const dayMs = 86_400_000

export type Ramp = { daily_limit: number; ramp_from: Date | null }

export function limitOn({ daily_limit, ramp_from }: Ramp, at: number): number {
  if (ramp_from === null || daily_limit <= first) return daily_limit
  // Whole UTC days, so that the limit of a day does not change within it.
  const age = Math.floor(at / dayMs) - Math.floor(ramp_from.getTime() / dayMs)
  const grown = first + Math.floor(((daily_limit - first) * Math.max(0, age)) / days)
  return Math.min(daily_limit, grown)
}
