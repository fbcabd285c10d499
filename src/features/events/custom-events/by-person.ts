// The order in which a batch is worked on: the same people come in the same order in every batch.
import type { ContactNames, ContactRef } from '../../contacts/contacts/queries.ts'

/**
 * Whoever is new becomes a contact when their first event has its turn, and two batches that made the same people in
 * another order would wait for each other. The events of one person stay in order, whatever each names them by: by
 * names that stand together in the batch, or are those of one of the contacts that there are.
 */
export function byPerson<T>(events: T[], refsOf: (event: T) => ContactRef[], known: ContactNames[]): T[] {
  const named = events.map((event) => ({ event, names: refsOf(event).map(nameOf) }))
  const same = new Map<string, string>()
  const personOf = (name: string | undefined): string => {
    let person = name ?? ''
    for (let next = same.get(person); next !== undefined; next = same.get(person)) person = next
    return person
  }
  for (const names of [...known.map(namesOf), ...named.map(({ names }) => names)])
    for (const name of names) {
      const [one, other] = [personOf(names[0]), personOf(name)]
      if (one !== other) same.set(one < other ? other : one, one < other ? one : other)
    }
  return named
    .map(({ event, names }) => ({ event, person: personOf(names[0]) }))
    .sort((one, other) => (one.person === other.person ? 0 : one.person < other.person ? -1 : 1))
    .map(({ event }) => event)
}

const nameOf = (ref: ContactRef) => JSON.stringify(ref)

function namesOf({ id, email, ext_id, sms }: ContactNames): string[] {
  const others = [email !== null && { email }, ext_id !== null && { extId: ext_id }, sms !== null && { sms }]
  return [{ id }, ...others.filter((ref) => ref !== false)].map(nameOf)
}
