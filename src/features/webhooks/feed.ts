// What one webhook has to tell, in the order of each message. More is fetched before it runs out, so that calls never
// wait for the database and never all for the slowest of them.
import type { QueuedRow } from './queue-queries.ts'

export type Feed = {
  /** The next event that may be told now: never two of one message at the same time. */
  next(): Promise<QueuedRow | undefined>
  /** What follows it may be told. */
  done(one: QueuedRow): void
  /** What follows one that is not done. */
  behind(one: QueuedRow): QueuedRow[]
  /** No more is fetched. */
  close(): void
  /** Throws what fetching came to. */
  end(): Promise<void>
}

export type Source = {
  first: QueuedRow[]
  /** What comes after this one; nothing when that was all, or others are to have their turn. */
  more: (last: QueuedRow) => Promise<QueuedRow[]>
}

// So many wait while the next are fetched.
const fetchedBelow = 300

export function openFeed({ first, more }: Source): Feed {
  const ready: QueuedRow[] = []
  /** Of each message that is being told about: what follows. */
  const following = new Map<string, QueuedRow[]>()
  let last: QueuedRow | undefined
  let fetching: Promise<void> | undefined
  let isClosed = false
  let fault: unknown

  function add(rows: QueuedRow[]): void {
    for (const one of rows) {
      const behind = following.get(nameOf(one))
      if (behind) behind.push(one)
      else {
        following.set(nameOf(one), [])
        ready.push(one)
      }
    }
    last = rows.at(-1)
  }

  async function fetch(after: QueuedRow): Promise<void> {
    try {
      add(await more(after))
    } catch (error) {
      fault = error
      isClosed = true
    }
    fetching = undefined
  }

  add(first)
  return {
    async next() {
      for (;;) {
        if (ready.length < fetchedBelow && last && !isClosed) fetching ??= fetch(last)
        const one = ready.shift()
        if (one || !fetching) return one
        await fetching
      }
    },
    done(one) {
      const next = following.get(nameOf(one))?.shift()
      if (next) ready.unshift(next)
      else following.delete(nameOf(one))
    },
    behind: (one) => following.get(nameOf(one)) ?? [],
    close() {
      isClosed = true
    },
    async end() {
      await fetching
      if (fault !== undefined) throw fault
    },
  }
}

const nameOf = (one: QueuedRow) => one.message_id ?? one.email ?? one.id
