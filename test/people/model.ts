// Who may be written to by whom, as simply as it can be said: a model in memory that the service is held against.

/** What stands against writing to an address. Each for itself: one that is lifted uncovers the others. */
export type Stops = {
  left: boolean
  /** Whose decision it was: that of a contact or an import makes a contact of the address unsubscribed. */
  manual: '' | 'contact' | 'import' | 'api'
  bounce: boolean
  complaint: boolean
  erased: boolean
  /** What is told of several. */
  reason: 'left' | 'manual' | 'bounce' | 'complaint' | ''
}

export type Contact = {
  email: string | null
  ext: string | null
  sms: string | null
  status: 'subscribed' | 'unsubscribed'
  /** Where the latest change of status came from. */
  by: string | null
  smsBlocked: boolean
  lists: Set<number>
  leftLists: Set<number>
  formerEmails: string[]
  formerPhones: string[]
}

export type Change = {
  email?: string | undefined
  ext?: string | undefined
  sms?: string | undefined
  blacklisted?: boolean | undefined
  smsBlacklisted?: boolean | undefined
  listIds?: number[]
  unlinkListIds?: number[]
}

type Move = { from: string; contact: Contact }
type Phone = { isOut: boolean; isErased: boolean }

const ownSources = ['unsubscribe', 'preferences', 'double opt-in', 'reply']

export class Refused extends Error {}

export function makeModel() {
  return {
    contacts: [] as Contact[],
    stops: new Map<string, Stops>(),
    phones: new Map<string, Phone>(),
    moves: [] as Move[],
    /** The lists that people left whose contact is gone. */
    kept: new Map<string, Set<number>>(),
  }
}
export type Model = ReturnType<typeof makeModel>

export function stopsOf({ stops }: Model, email: string): Stops {
  const none = {
    left: false,
    manual: '',
    bounce: false,
    complaint: false,
    erased: false,
    reason: '',
  } as const
  const found = stops.get(email) ?? { ...none }
  stops.set(email, found)
  return found
}

export function phoneOf({ phones }: Model, sms: string): Phone {
  const found = phones.get(sms) ?? { isOut: false, isErased: false }
  phones.set(sms, found)
  return found
}

export const isStopped = ({ left, manual, bounce, complaint, erased }: Stops) =>
  left || manual !== '' || bounce || complaint || erased

export const holderOf = ({ contacts }: Model, email: string) => contacts.find((one) => one.email === email)

/** Whose link a link to this address is by now. */
export const personOf = (model: Model, email: string) =>
  holderOf(model, email) ?? model.moves.findLast(({ from }) => from === email)?.contact

export const mayGetSms = (model: Model, sms: string) => {
  const { isOut, isErased } = phoneOf(model, sms)
  return !isOut && !isErased && !model.contacts.some((one) => one.sms === sms && one.smsBlocked)
}

/** The person of the address left, or was unsubscribed as a contact: whoever comes onto it is unsubscribed. */
export const leftReason = ({ left, manual, erased }: Stops) =>
  erased
    ? undefined
    : manual === 'contact' || manual === 'import'
      ? 'manual'
      : left
        ? 'unsubscribe'
        : undefined

export function changeStatus(contact: Contact, status: Contact['status'], by: string | null): void {
  if (contact.status === status) return
  contact.status = status
  if (by !== null) contact.by = by
}

export const isByChoice = (model: Model, { by, email }: Contact) => {
  if (by !== null) return ownSources.includes(by)
  return stopsOf(model, email ?? '').reason === 'left'
}

export function stop(model: Model, email: string, what: Partial<Stops>): void {
  const stops = stopsOf(model, email)
  if (stops.erased) return
  // A message that bounces although its address is stopped says nothing new.
  if (what.bounce && isStopped(stops)) return
  // Beside a bounce one thing is kept, the first, unless it is about a contact.
  if (stops.bounce && ((what.left && stops.manual === 'api') || (what.manual === 'api' && stops.left))) return
  const isWeaker = what.manual === 'api' && stops.manual !== ''
  if (!isWeaker) Object.assign(stops, what)
  if (stops.reason === '' || stops.complaint) stops.reason = reasonOf(stops)
}

const reasonOf = ({ left, manual, bounce, complaint }: Stops) =>
  complaint ? 'complaint' : bounce ? 'bounce' : manual ? 'manual' : left ? 'left' : ''

export function lift(model: Model, email: string, what: 'all' | 'decisions' | 'left' | 'bounce'): void {
  const stops = stopsOf(model, email)
  if (what !== 'bounce') stops.left = false
  if (what === 'all' || what === 'decisions') stops.manual = ''
  if (what === 'all' || what === 'bounce') stops.bounce = false
  if (what === 'all') stops.complaint = false
  if (stops.reason === '' || !stops[stops.reason]) stops.reason = reasonOf(stops)
}

export const blank = (): Contact => ({
  email: null,
  ext: null,
  sms: null,
  status: 'subscribed',
  by: null,
  smsBlocked: false,
  lists: new Set(),
  leftLists: new Set(),
  formerEmails: [],
  formerPhones: [],
})

export const findAll = ({ contacts }: Model, { email, ext, sms }: Change) =>
  contacts.filter(
    (one) =>
      (email !== undefined && one.email === email) ||
      (ext !== undefined && one.ext === ext) ||
      (sms !== undefined && one.sms === sms),
  )

export function create(model: Model, change: Change, updateEnabled: boolean, by = 'api'): void {
  const { email, ext, sms, blacklisted } = change
  if (email === undefined && ext === undefined && sms === undefined) throw new Refused()
  if (findAll(model, change).length > 0) {
    const first = email !== undefined ? { email } : ext !== undefined ? { ext } : { sms }
    const [found] = findAll(model, first)
    if (!found || !updateEnabled) throw new Refused()
    put(model, found, change, by)
    return
  }
  const made = blank()
  model.contacts.push(made)
  Object.assign(made, { email: email ?? null, ext: ext ?? null })
  if (blacklisted) changeStatus(made, 'unsubscribed', by)
  setPhone(model, made, change)
  if (email !== undefined && blacklisted) stop(model, email, { manual: 'contact' })
  if (email !== undefined && blacklisted === false) lift(model, email, 'decisions')
  comeOnto(model, made, change)
  takeLeavingsUp(model, made)
  setLists(made, change)
}

function comeOnto(model: Model, contact: Contact, { blacklisted }: Change): void {
  if (contact.email === null || blacklisted !== undefined) return
  const reason = leftReason(stopsOf(model, contact.email))
  if (reason) changeStatus(contact, 'unsubscribed', reason)
}

/** Whoever has the address by now does not come back onto the lists that its person left. */
export function takeLeavingsUp({ kept }: Model, contact: Contact): void {
  for (const id of kept.get(contact.email ?? '') ?? []) leaveListOf(contact, id)
  kept.delete(contact.email ?? '')
}

function leaveListOf(contact: Contact, listId: number): void {
  contact.lists.delete(listId)
  contact.leftLists.add(listId)
}

function setLists(contact: Contact, { listIds = [], unlinkListIds = [] }: Change): void {
  for (const id of listIds) {
    contact.lists.add(id)
    contact.leftLists.delete(id)
  }
  for (const id of unlinkListIds) contact.lists.delete(id)
}

/** A number that may not be written to stays so, whoever has it. */
export function setPhone(model: Model, contact: Contact, { sms, smsBlacklisted }: Change): void {
  const before = { sms: contact.sms, smsBlocked: contact.smsBlocked }
  if (sms !== undefined) contact.sms = sms
  if (smsBlacklisted !== undefined) contact.smsBlocked = smsBlacklisted
  const isNew = contact.sms !== before.sms
  if (isNew && before.sms !== null) contact.formerPhones.push(before.sms)
  if (isNew && before.sms !== null && before.smsBlocked && contact.smsBlocked) block(model, before.sms)
  if (contact.sms === null) return
  if (isNew && phoneOf(model, contact.sms).isOut) contact.smsBlocked = true
  if (before.smsBlocked && !contact.smsBlocked) phoneOf(model, contact.sms).isOut = false
}

export function block(model: Model, sms: string): void {
  const phone = phoneOf(model, sms)
  if (!phone.isErased) phone.isOut = true
}

export function put(model: Model, contact: Contact, change: Change, by = 'api'): void {
  if (findAll(model, change).some((one) => one !== contact)) throw new Refused()
  const email = change.email ?? contact.email
  const isErased = email !== null && stopsOf(model, email).erased
  if (change.blacklisted === false && isErased) throw new Refused()
  const isMoved = email !== contact.email
  const isFirst = contact.email === null && email !== null
  if (isMoved) move(model, contact, email as string)
  if (change.ext !== undefined) contact.ext = change.ext
  if (change.blacklisted !== undefined)
    changeStatus(contact, change.blacklisted ? 'unsubscribed' : 'subscribed', by)
  setPhone(model, contact, change)
  if (isFirst && contact.status === 'unsubscribed') stop(model, email, { manual: 'contact' })
  if (isMoved) comeOnto(model, contact, change)
  if (isMoved) takeLeavingsUp(model, contact)
  setLists(contact, change)
  if (email !== null && change.blacklisted) stop(model, email, { manual: 'contact' })
  if (email !== null && change.blacklisted === false) lift(model, email, 'decisions')
}

/** What the person said goes along. */
function move(model: Model, contact: Contact, to: string): void {
  const from = contact.email
  contact.email = to
  if (from === null) return
  model.moves.push({ from, contact })
  contact.formerEmails.push(from)
  const { left, manual, complaint, erased, reason } = stopsOf(model, from)
  const said = [{ left }, { manual }, { complaint }].filter((one) => Object.values(one).some(Boolean))
  // What is told of them comes first.
  said.sort((one, other) => Number(Object.hasOwn(other, reason)) - Number(Object.hasOwn(one, reason)))
  for (const one of said) stop(model, to, one)
  if (erased) stop(model, to, { manual: 'api' })
}

export function remove(model: Model, contact: Contact): void {
  model.contacts = model.contacts.filter((one) => one !== contact)
  model.moves = model.moves.filter((one) => one.contact !== contact)
  if (contact.smsBlocked && contact.sms !== null) block(model, contact.sms)
  if (contact.email !== null && contact.leftLists.size > 0) model.kept.set(contact.email, contact.leftLists)
}

export function leave(model: Model, email: string): void {
  const contact = personOf(model, email)
  if (contact) changeStatus(contact, 'unsubscribed', 'unsubscribe')
  for (const one of new Set([email, contact?.email ?? email])) stop(model, one, { left: true })
}

export function undo(model: Model, email: string, by = 'unsubscribe'): void {
  const contact = personOf(model, email)
  const isChoice = contact && isByChoice(model, contact)
  for (const one of new Set([email, contact?.email ?? email])) lift(model, one, 'left')
  if (isChoice) changeStatus(contact, 'subscribed', by)
}

export function leaveList(model: Model, email: string, listId: number): void {
  const contact = personOf(model, email)
  if (contact?.lists.delete(listId)) contact.leftLists.add(listId)
}

export function rejoinList(model: Model, email: string, listId: number): void {
  const contact = personOf(model, email)
  if (contact?.leftLists.delete(listId)) contact.lists.add(listId)
}
