// Guessing keys is hopeless at 190 bits, but each guess costs a look-up: an address that sends
// a thousand wrong keys within a minute waits for the next one. Keys that worked are not kept waiting: many customers
// may come from one address, and one of them go on with a key that was revoked.
import { LRUCache } from 'lru-cache'

const mostPerMinute = 1_000

export function failedKeyBrake() {
  // Entries live a minute from the first failure on.
  const failures = new LRUCache<string, { count: number }>({ max: 10_000, ttl: 60_000, noUpdateTTL: true })
  const worked = new LRUCache<string, true>({ max: 10_000 })
  return {
    isOver: (ip: string | null, key: string) =>
      (failures.get(ip ?? '')?.count ?? 0) >= mostPerMinute && !worked.has(key),
    noteWorked(key: string) {
      worked.set(key, true)
    },
    noteFailed(ip: string | null, key: string) {
      worked.delete(key)
      const entry = failures.get(ip ?? '')
      if (entry) entry.count++
      else failures.set(ip ?? '', { count: 1 })
    },
  }
}
