// The next messages are composed and signed while those before them are on their way: a signature is half of all that
// a message costs, and a slot that waits for its commit would leave the processor idle.

/** Composed when it was started, or now. */
export type ComposeAhead<Due, Composed> = {
  start(next: readonly Due[]): void
  take(due: Due): Promise<Composed>
}

export type AheadOptions<Due> = {
  most: number
  /** Those that are not are composed when their turn comes. */
  isLight: (due: Due) => boolean
  freshMs?: number
  mostBytes?: number
}

type Started<Composed> = { at: number; composed: Promise<Composed> }

/** `freshMs`: one whose turn comes later is composed again, because its campaign may have been paused or changed. */
export function openAhead<Due extends object, Composed>(
  compose: (due: Due) => Promise<Composed>,
  { most, isLight, freshMs = 250, mostBytes = 4 * 1024 * 1024 }: AheadOptions<Due>,
): ComposeAhead<Due, Composed> {
  const started = new WeakMap<Due, Started<Composed>>()
  // Nothing is known before the first: it goes alone.
  let lastBytes = mostBytes

  async function noted(due: Due): Promise<Composed> {
    const composed = await compose(due)
    if (Buffer.isBuffer(composed)) lastBytes = Math.max(1, composed.length)
    return composed
  }

  return {
    start(next) {
      const count = Math.min(most, next.length, Math.floor(mostBytes / lastBytes))
      for (const due of next.slice(0, count)) {
        if (started.has(due) || !isLight(due)) continue
        const composed = noted(due)
        // Told to whoever takes it.
        composed.catch(() => undefined)
        started.set(due, { at: performance.now(), composed })
      }
    },
    take(due) {
      const before = started.get(due)
      return before && performance.now() - before.at < freshMs ? before.composed : noted(due)
    },
  }
}
