// The operator's certificate is renewed every few weeks, by a program that knows nothing of this service.
import type { Log } from '../kernel/log.ts'
import { endOf, readPair, type TlsPair } from './tls-pair.ts'

export type RenewalNeeds = {
  files: Parameters<typeof readPair>[0]
  inUse: TlsPair
  take: (pair: TlsPair) => void
  now: () => Date
  log: Log
  everyMs?: number
}

const hour = 3_600_000

/** Takes a new pair as soon as both files belong together; until then, and when it is no good, the old one stays. */
export function watchTlsPair(needs: RenewalNeeds): { stop(): void } {
  const { files, take, log, everyMs = 60_000 } = needs
  let { inUse } = needs
  const tellEnd = endTeller(needs)
  const tellFault = faultTeller(needs)
  const look = async () => {
    const pair = await readPair(files)
    tellFault(undefined)
    if (pair.cert === inUse.cert && pair.key === inUse.key) return
    take(pair)
    inUse = pair
    log.info({ file: files.tlsCert, end: endOf(pair) }, 'the relay has a new certificate')
  }
  tellEnd(inUse)
  const timer = setInterval(async () => {
    await look().catch(tellFault)
    tellEnd(inUse)
  }, everyMs).unref()
  return { stop: () => clearInterval(timer) }
}

function endTeller({ files, now, log }: RenewalNeeds) {
  let toldAt = Number.NEGATIVE_INFINITY
  return (inUse: TlsPair) => {
    const at = now().getTime()
    if (endOf(inUse).getTime() > at || at - toldAt < hour) return
    toldAt = at
    log.error({ file: files.tlsCert, end: endOf(inUse) }, 'the certificate of the relay has run out')
  }
}

/** Once, and not at first sight: one file is written after the other. */
function faultTeller({ log }: RenewalNeeds) {
  let seen: unknown
  let isTold = false
  return (error: unknown) => {
    const fault = error instanceof Error ? error.message : error
    if (fault !== seen) isTold = false
    else if (fault !== undefined && !isTold) {
      isTold = true
      log.error({ err: error }, 'the relay goes on with its old certificate')
    }
    seen = fault
  }
}
