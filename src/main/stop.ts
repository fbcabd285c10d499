// The end of a process. It has a few seconds: what is under way after them is cut off.
import type { Log } from '../kernel/log.ts'

export type Stop = () => Promise<void>

/** In the reverse of the order of starting: first no new requests, last no database. */
export async function stopInTurn(stops: Stop[], log: Log): Promise<void> {
  for (const stop of [...stops].reverse()) await quietly(stop, log)
}

/** One that takes its time does not keep the others at work until all of them are cut off. */
export async function stopTogether(stops: Stop[], log: Log): Promise<void> {
  await Promise.all(stops.map((stop) => quietly(stop, log)))
}

async function quietly(stop: Stop, log: Log): Promise<void> {
  try {
    await stop()
  } catch (error) {
    log.error({ err: error }, 'stopping')
  }
}
