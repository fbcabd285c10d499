// What one message holds of the room for large ones; it takes more as it grows.
import { largeBytes, type Room } from '../../kernel/room.ts'

export type Hold = {
  /** To so many octets in all; false when there is no room for them. 0 gives back what it has. */
  grow(bytes: number): boolean
  release(): void
}

export function holdIn(room: Room, owner: string): Hold {
  let held = 0
  let givers: (() => void)[] = []

  function release(): void {
    for (const giveBack of givers) giveBack()
    held = 0
    givers = []
  }

  function grow(bytes: number): boolean {
    if (bytes === 0) release()
    if (bytes <= Math.max(held, largeBytes)) return true
    const giveBack = room.tryTake({ accountId: owner, bytes: bytes - held })
    if (!giveBack) return false
    givers.push(giveBack)
    held = bytes
    return true
  }

  return { grow, release }
}
