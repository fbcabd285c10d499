// Some times are set by the clock of a process and compared with that of the database, others the other way round.

const mostMs = 2_000

/** How far the clocks are apart, in words, when that is more than an answer's way. */
export async function clocksApart(readClock: () => Promise<Date>): Promise<string | undefined> {
  const before = Date.now()
  const there = (await readClock()).getTime()
  // It was read at some moment in between: only what lies outside is a difference.
  const ahead = before - there
  const behind = there - Date.now()
  const apart = Math.max(ahead, behind)
  if (apart <= mostMs) return undefined
  const side = ahead > 0 ? 'ahead of' : 'behind'
  return `the clock of this machine is ${Math.round(apart / 1000)} s ${side} that of the database server`
}

export const howToSetClocks =
  'Set the clocks of all machines by one time server: webhooks, retries and schedules are late or early otherwise'
