// Whether the upstream takes mail, told by what it did with the last messages of any process.
import type { Db } from '../../kernel/db.ts'
import type { Log } from '../../kernel/log.ts'
import type { Transport } from '../../kernel/ports.ts'
import type { HandedOver } from './settle.ts'
import { keepUpstreamState } from './upstream-state-queries.ts'

type Needs = { db: Db; log: Log; now: () => Date; transport: Pick<Transport, 'kind'> }

// The same thing is told again after this time: another process may have told otherwise.
const againMs = 10_000
// One that is put off may have itself to blame; so many, and none taken in between, have not.
const manyPutOff = 5

/** All accounts are told of the upstream; whom one of them writes to is not theirs to know. */
const withoutAddresses = (said: string) =>
  said.replaceAll(/[^\s<>"'(),:;@[\]]+@[^\s<>"'(),:;[\]]+/g, '[address]')

/** Takes the outcome of every hand-over to the upstream. Nobody asks how our own capture is. */
export function openUpstreamState({ db, log, now, transport }: Needs) {
  let told: { failing: boolean; at: number } | undefined
  const putOff = new Set<string>()

  /** Nothing where the outcome says nothing of the upstream. */
  function isFailing(id: string, outcome: HandedOver['outcome']): boolean | undefined {
    if (outcome.kind === 'accepted' || outcome.kind === 'rejected') {
      putOff.clear()
      return false
    }
    if (outcome.kind !== 'deferred') return undefined
    if (putOff.size < manyPutOff) putOff.add(id)
    return outcome.fault === 'transport' || putOff.size === manyPutOff || undefined
  }

  return (id: string, outcome: HandedOver['outcome']): void => {
    const failing = isFailing(id, outcome)
    const at = performance.now()
    if (
      failing === undefined ||
      transport.kind === 'capture' ||
      (told?.failing === failing && at - told.at < againMs)
    )
      return
    told = { failing, at }
    const said = failing && 'message' in outcome ? withoutAddresses(outcome.message.slice(0, 300)) : null
    keepUpstreamState(db, transport.kind, { failing, since: now(), said }).catch((error) =>
      log.warn({ err: error }, 'the state of the upstream could not be kept'),
    )
  }
}
