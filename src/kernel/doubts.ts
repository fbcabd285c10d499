// What was assumed in vain a moment ago: for a while it is asked before, since running a transaction again costs more.
import { LRUCache } from 'lru-cache'

export type Doubts = { has(name: string): boolean; add(name: string): void }

const keptMs = 10_000
const most = 10_000

export function openDoubts(): Doubts {
  const names = new LRUCache<string, true>({ max: most, ttl: keptMs })
  return { has: (name) => names.has(name), add: (name) => void names.set(name, true) }
}
