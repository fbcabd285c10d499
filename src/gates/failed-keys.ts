// Guessing keys is hopeless at 190 bits, but each guess costs a look-up: an address that sends
// a thousand wrong keys within a minute waits for the next one.
import { LRUCache } from 'lru-cache'

const mostPerMinute = 1_000

export function failedKeyBrake() {
  // Entries live a minute from the first failure on.
  const failures = new LRUCache<string, { count: number }>({ max: 10_000, ttl: 60_000, noUpdateTTL: true })
  return {
    isOver: (ip: string | null) => (failures.get(ip ?? '')?.count ?? 0) >= mostPerMinute,
    note(ip: string | null) {
      const entry = failures.get(ip ?? '')
      if (entry) entry.count++
      else failures.set(ip ?? '', { count: 1 })
    },
  }
}
