// A process that watches as many mailboxes as it may gives some up for accounts that have fewer and wait.

export type Held = { accountId: string; controller: AbortController }

/** Of an account: how many of its mailboxes are watched anywhere, and how many wait to be. */
export type Waiting = { mailboxes: number; waiting: number }

const atOnce = 10

/** Those to give up: of whoever has the most here, as long as whoever waits would not get as many. */
export function surplus<Watch extends Held>(watches: Watch[], accounts: Waiting[]): Watch[] {
  // Places are about to be free already.
  if (watches.some(({ controller }) => controller.signal.aborted)) return []
  const held = byAccount(watches)
  const wanted = accounts.map((one) => ({ ...one }))
  const given: Watch[] = []
  while (given.length < atOnce) {
    const largest = held.reduce((one, other) => (other.length > one.length ? other : one), [])
    const next = wanted
      .filter(({ waiting }) => waiting > 0)
      .reduce<Waiting | undefined>(
        (one, other) => (one && one.mailboxes <= other.mailboxes ? one : other),
        undefined,
      )
    if (!next || next.mailboxes + 1 >= largest.length) return given
    next.mailboxes++
    next.waiting--
    given.push(...largest.splice(-1))
  }
  return given
}

function byAccount<Watch extends Held>(watches: Watch[]): Watch[][] {
  const held = new Map<string, Watch[]>()
  for (const watch of watches) {
    const those = held.get(watch.accountId) ?? []
    those.push(watch)
    held.set(watch.accountId, those)
  }
  return [...held.values()]
}
