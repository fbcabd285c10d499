import { setTimeout as sleep } from 'node:timers/promises'
import { isConflict } from './db.ts'
import { isDatabaseDown } from './refusals.ts'

const againMs = 500

/** The database is away, or others are in the way there: later it works. */
export const isPassing = (error: unknown) => isDatabaseDown(error) || isConflict(error)

/** What was done outside is written down, however long that takes: what is not known of would be done again. */
export async function surely(write: () => Promise<unknown>, isStopping: () => boolean): Promise<void> {
  for (;;) {
    try {
      await write()
      return
    } catch (error) {
      if (isStopping() || !isPassing(error)) throw error
      await sleep(againMs)
    }
  }
}
