// Random numbers that come again: a failure is repeated with POSTHORN_SEED.
export const seed = Number(process.env.POSTHORN_SEED ?? Math.floor(Math.random() * 2 ** 31))

/** From 0 to 1, by mulberry32. */
export function randomFrom(start: number): () => number {
  let state = start | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
