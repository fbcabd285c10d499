// What happens to many at once, or from outside, in the model.
import {
  blank,
  block,
  type Change,
  changeStatus,
  create,
  findAll,
  holderOf,
  isByChoice,
  leaveList,
  leftReason,
  lift,
  type Model,
  personOf,
  remove,
  setPhone,
  stop,
  stopsOf,
  takeLeavingsUp,
  undo,
} from './model.ts'

export function confirm(model: Model, email: string, listId: number): void {
  const contact = personOf(model, email)
  const by = 'double opt-in'
  if (contact && contact.email !== email) lift(model, email, 'left')
  else {
    const isLeft =
      contact?.status === 'unsubscribed'
        ? isByChoice(model, contact)
        : stopsOf(model, email).reason === 'left'
    if (contact && isLeft) for (const id of [...contact.lists]) if (id !== listId) leaveList(model, email, id)
    undo(model, email, by)
  }
  create(model, { email, listIds: [listId] }, true, by)
}

export type ImportRow = Pick<Change, 'email' | 'ext' | 'sms'>
export type ImportRules = { listIds: number[]; blacklist: boolean; isConsented: boolean }

export function importRow(model: Model, row: ImportRow, rules: ImportRules): void {
  const [found, second] = findAll(model, row)
  if (second || (found && row.email !== undefined && found.email !== null && found.email !== row.email))
    return
  const contact = found ?? blank()
  if (!found) model.contacts.push(contact)
  const isNewAddress = row.email !== undefined && contact.email !== row.email
  const wasBlacklisted = contact.status === 'unsubscribed'
  if (rules.blacklist) changeStatus(contact, 'unsubscribed', found ? 'import' : null)
  contact.email = row.email ?? contact.email
  contact.ext = row.ext ?? contact.ext
  setPhone(model, contact, row)
  if (isNewAddress && leftReason(stopsOf(model, row.email ?? ''))) changeStatus(contact, 'unsubscribed', null)
  if (isNewAddress) takeLeavingsUp(model, contact)
  if (isNewAddress && wasBlacklisted) stop(model, row.email ?? '', { manual: 'contact' })
  if (rules.blacklist && contact.email !== null) stop(model, contact.email, { manual: 'import' })
  for (const id of rules.listIds) {
    if (rules.isConsented) contact.leftLists.delete(id)
    if (!contact.leftLists.has(id)) contact.lists.add(id)
  }
}

export function erase(model: Model, email: string): void {
  const contact = holderOf(model, email)
  const isOthers = (of: 'email' | 'sms') => (value: string) => model.contacts.some((one) => one[of] === value)
  const emails = [email, ...(contact?.formerEmails ?? []).filter((one) => !isOthers('email')(one))]
  const phones = (contact?.formerPhones ?? []).filter((one) => !isOthers('sms')(one))
  if (contact) remove(model, contact)
  for (const one of emails) {
    model.kept.delete(one)
    model.stops.set(one, {
      left: false,
      manual: '',
      bounce: false,
      complaint: false,
      erased: true,
      reason: '',
    })
    model.moves = model.moves.filter(({ from }) => from !== one)
    for (const other of model.contacts)
      other.formerEmails = other.formerEmails.filter((former) => former !== one)
  }
  for (const sms of [...(contact?.sms ? [contact.sms] : []), ...phones])
    model.phones.set(sms, { isOut: false, isErased: true })
}

export function sayStop(model: Model, sms: string): void {
  block(model, sms)
  for (const one of model.contacts) if (one.sms === sms) one.smsBlocked = true
}
