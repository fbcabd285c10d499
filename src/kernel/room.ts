// Room in memory for what is large: each account has a part of it, so that one that fills its own keeps nobody out.
import { accountBusy } from './refusals.ts'
import { within } from './within.ts'

type Asked = { accountId: string; bytes: number }
type Waiting = Asked & { enter: () => void }

export type Room = {
  /** Waits until there is room. Gives what is called once, when it is no longer needed. */
  take(asked: Asked): Promise<() => void>
  /** Undefined where there is no room at once. */
  tryTake(asked: Asked): (() => void) | undefined
}

const megabyte = 1024 * 1024

/** From where on something is large, and what all that is large may take: bodies over HTTP, and mail over the relay. */
export const largeBytes = megabyte
export const mostRoom = { ofOne: 256 * megabyte, ofAll: 1024 * megabyte }

const patienceMs = 30_000

/** One alone has room, however large it is. */
export function openRoom(most: { ofOne: number; ofAll: number }, waitMs = patienceMs): Room {
  const held = new Map<string, number>()
  let sum = 0
  let waiting: Waiting[] = []

  const heldBy = (accountId: string) => held.get(accountId) ?? 0

  function fits({ accountId, bytes }: Asked): boolean {
    const own = heldBy(accountId)
    return (own === 0 || own + bytes <= most.ofOne) && (sum === 0 || sum + bytes <= most.ofAll)
  }

  function hold({ accountId, bytes }: Asked): void {
    const own = heldBy(accountId) + bytes
    if (own === 0) held.delete(accountId)
    else held.set(accountId, own)
    sum += bytes
  }

  /** Those that came first go first, and none waits for one that has to wait for its own account. */
  function letIn(): void {
    for (const one of [...waiting]) {
      if (!fits(one)) continue
      waiting = waiting.filter((other) => other !== one)
      hold(one)
      one.enter()
    }
  }

  async function waitFor(asked: Asked): Promise<void> {
    let one: Waiting | undefined
    const entered = new Promise<void>((enter) => {
      one = { ...asked, enter }
      waiting.push(one)
    })
    await within(waitMs, entered, () => {
      waiting = waiting.filter((other) => other !== one)
      return accountBusy({ retryAfterSeconds: Math.ceil(waitMs / 1000) })
    })
  }

  const giverBack = (asked: Asked) => () => {
    hold({ ...asked, bytes: -asked.bytes })
    letIn()
  }

  function tryTake(asked: Asked) {
    if (!fits(asked)) return undefined
    hold(asked)
    return giverBack(asked)
  }

  const take = async (asked: Asked) => {
    const taken = tryTake(asked)
    if (taken) return taken
    await waitFor(asked)
    return giverBack(asked)
  }
  return { take, tryTake }
}
