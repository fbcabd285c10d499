// The order in which a batch is worked on: the same people come in the same order in every batch.
import type { ContactRef } from '../../contacts/contacts/queries.ts'

/**
 * Whoever is new becomes a contact when their first event has its turn, and two batches that made the same people in
 * another order would wait for each other. The events of one person, whatever each names them by, stay in order.
 */
export function byPerson<T>(events: T[], refsOf: (event: T) => ContactRef[]): T[] {
  const named = events.map((event) => ({ event, names: refsOf(event).map((ref) => JSON.stringify(ref)) }))
  const same = new Map<string, string>()
  const personOf = (name: string | undefined): string => {
    let person = name ?? ''
    for (let next = same.get(person); next !== undefined; next = same.get(person)) person = next
    return person
  }
  for (const { names } of named)
    for (const name of names) {
      const [one, other] = [personOf(names[0]), personOf(name)]
      if (one !== other) same.set(one < other ? other : one, one < other ? one : other)
    }
  return named
    .map(({ event, names }) => ({ event, person: personOf(names[0]) }))
    .sort((one, other) => (one.person === other.person ? 0 : one.person < other.person ? -1 : 1))
    .map(({ event }) => event)
}
