// A new mailbox begins with few messages a day, and has its limit three weeks after its first one: nobody knows a
// mailbox that was merely there.
const first = 10
const days = 21
const dayMs = 86_400_000

/** Without `ramp_from` it is at its limit. `first_day`: of its first message since then; null before there was one. */
export type Ramp = { daily_limit: number; ramp_from: Date | null; first_day: string | null }

export function limitOn({ daily_limit, ramp_from, first_day }: Ramp, at: number): number {
  if (ramp_from === null || daily_limit <= first) return daily_limit
  // Whole UTC days, so that the limit of a day does not change within it.
  const age = first_day === null ? 0 : Math.floor((at - Date.parse(first_day)) / dayMs)
  const grown = first + Math.floor(((daily_limit - first) * Math.max(0, age)) / days)
  return Math.min(daily_limit, grown)
}
