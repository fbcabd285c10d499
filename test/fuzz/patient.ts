// A host that lets one of its processors stand still for seconds makes any request slow, and the database look down.
import type { Reply, Silence } from './gun.ts'
import { isSlow } from './judge.ts'
import type { Shot } from './shot.ts'

export type Patient = (
  name: string,
  shot: Shot,
  fire: () => Promise<Reply | Silence>,
) => Promise<Reply | Silence>

/**
 * What is slow by itself is so again. Where the first has changed what it found, the next of the same name tells:
 * there is no second excuse for it.
 */
export function patience(): Patient {
  const excused = new Set<string>()
  return async (name, shot, fire) => {
    const got = await fire()
    if (!(isSlow(shot, got) || isDown(got)) || excused.has(name)) return got
    excused.add(name)
    const again = await fire()
    return isSlow(shot, again) || isDown(got) ? again : { ...got, ms: again.ms }
  }
}

/** What a call says when the database does not answer within two seconds. */
const isDown = (got: Reply | Silence) =>
  'status' in got && got.status === 503 && got.body.includes('"database_unavailable"')
