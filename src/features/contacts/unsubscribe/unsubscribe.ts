// Leaving and coming back, whichever way it was asked for: one click in a mail program, our pages, a customer's page.
import type { Db } from '../../../kernel/db.ts'
import { newUuid } from '../../../kernel/id.ts'
import { deleteSuppression, findSuppressed, isOwnWord } from '../../suppressions/queries.ts'
import { suppressAll } from '../../suppressions/suppressions.ts'
import { mayNoteOpens } from '../contacts/tracking-consent.ts'
import { insertChanges, insertConsent } from '../contacts/trail-queries.ts'
import { touchContacts } from '../lists/member-queries.ts'
import { holdCounts } from '../lists/queries.ts'
import {
  changeStatus,
  changeTrackingConsent,
  findStanding,
  holdContactOf,
  insertUnsubscribeEvent,
  leaveList,
  listPersonLists,
  lockPerson,
  type Person,
  type PersonListRow,
  rejoinList,
  type StandingRow,
} from './queries.ts'
import { senderName } from './sender-name.ts'
import type { UnsubscribeToken } from './tokens.ts'

export type Standing = {
  /** Who writes; nothing where nobody has said. */
  from: string | undefined
  /** There is a contact of the address. */
  isKnown: boolean
  /** Of the token's scope: all mail, or its list. */
  status: 'subscribed' | 'unsubscribed'
  isUnsubscribedFromAll: boolean
  /** False where someone else than the person stopped the mail. */
  canReturnToAll: boolean
  /** Nobody can take this back. */
  isErased: boolean
  /** Whether it is noted when the person opens mail; nothing where that is not theirs to choose. */
  areOpensNoted: boolean | undefined
  lists: PersonListRow[]
}

/** Nothing when there is no such account. */
export async function readStanding(db: Db, token: UnsubscribeToken): Promise<Standing | undefined> {
  const found = await findStanding(db, token)
  if (!found) return undefined
  const lists = await listsOf(db, token, found)
  const stops = await findSuppressed(db, [{ accountId: token.accountId, email: found.address }])
  const isUnsubscribedFromAll = found.status === 'unsubscribed' || stops.length > 0
  const isOnList = token.listId === undefined || lists.some((one) => one.id === token.listId && one.is_member)
  return {
    from: await senderName(db, { ...token, accountName: found.account_name }),
    isKnown: found.contact_id !== null,
    status: isUnsubscribedFromAll || !isOnList ? 'unsubscribed' : 'subscribed',
    isUnsubscribedFromAll,
    canReturnToAll:
      isUnsubscribedFromAll &&
      stops.every(isOwnWord) &&
      (found.status !== 'unsubscribed' || leftByChoice(found)),
    isErased: stops.some(({ is_erased }) => is_erased),
    areOpensNoted: areOpensNoted(found),
    lists,
  }
}

function areOpensNoted(found: StandingRow): boolean | undefined {
  const isChoice = found.contact_id !== null && found.settings.open_tracking !== 'off'
  return isChoice ? mayNoteOpens(found) : undefined
}

async function listsOf(db: Db, { accountId }: UnsubscribeToken, { contact_id }: StandingRow) {
  return contact_id === null ? [] : listPersonLists(db, { accountId, contactId: contact_id })
}

/** What the history calls it when the person changed their status themselves. */
export const ownSources = ['unsubscribe', 'preferences', 'double opt-in', 'reply'] as const
type Source = (typeof ownSources)[number]

/** A contact that was imported onto an address whose person had left has no history of that. */
function leftByChoice({ status_source, suppression }: StandingRow): boolean {
  if (status_source === null) return suppression === 'unsubscribe'
  return ownSources.some((own) => own === status_source)
}

/** What leaving and coming back share. */
type Asked = { db: Db; token: UnsubscribeToken; at: Date; source: Source; userAgent?: string | undefined }

/** `standing` as it was when the turn came. */
type Act = Asked & { standing: StandingRow }

export function unsubscribe(db: Db, token: UnsubscribeToken, at: Date, userAgent?: string): Promise<void> {
  return inTurn({ db, token, at, source: 'unsubscribe', userAgent }, async (act) => {
    const { listId } = token
    const isNew = listId === undefined ? await leaveAll(act) : await leaveOne(act, listId)
    await recordEvent(act, { isNew, lists: listId === undefined ? 'all' : [listId] })
  })
}

/** Takes back what `unsubscribe` did with the same token. */
export function resubscribe(db: Db, token: UnsubscribeToken, at: Date): Promise<void> {
  return inTurn({ db, token, at, source: 'unsubscribe' }, async (act) => {
    if (token.listId === undefined) await returnToAll(act)
    else await returnToOne(act, token.listId)
  })
}

/** Said in an answer to a message; the suppression is the caller's to write. */
export async function leaveByReply(db: Db, person: Person, at: Date): Promise<void> {
  const standing = await findStanding(db, person)
  if (standing) await changeTo('unsubscribed', { db, token: person, at, source: 'reply', standing })
}

/** It was not said after all: whoever left in another way stays so. */
export async function returnByReply(db: Db, person: Person, at: Date): Promise<void> {
  const standing = await findStanding(db, person)
  if (standing?.status_source !== 'reply') return
  await changeTo('subscribed', { db, token: person, at, source: 'reply', standing })
}

/** Whoever had left everything says yes to these lists alone: the others stay left, now one by one. */
export function returnToLists(db: Db, token: UnsubscribeToken, at: Date, listIds: string[]): Promise<void> {
  return inTurn({ db, token, at, source: 'double opt-in' }, async (act) => {
    const known = hasLeftAll(act.standing) ? await listsOf(act.db, token, act.standing) : []
    const others = known.filter((one) => one.is_member && !listIds.includes(one.id))
    await holdCounts(act.db, token.accountId, [...others.map(({ id }) => id), ...listIds])
    for (const { id } of others) await leaveOne(act, id)
    await returnToAll(act)
  })
}

const hasLeftAll = (standing: StandingRow) =>
  standing.status === 'unsubscribed' ? leftByChoice(standing) : standing.suppression === 'unsubscribe'

/**
 * What was chosen, and what was shown before: lists that came since are left alone, and a page that was opened before
 * the person left everything does not bring them back.
 */
export type Choice = {
  shown: string[]
  kept: string[]
  nothing: boolean
  wasNothing: boolean
  /** Whether opens may be noted, and the words that this was agreed or refused to with; nothing when not asked. */
  opens?: { mayBeNoted: boolean; words: string; ip: string } | undefined
  userAgent?: string | undefined
}

export function savePreferences(db: Db, token: UnsubscribeToken, choice: Choice, at: Date): Promise<void> {
  const { userAgent } = choice
  return inTurn({ db, token, at, source: 'preferences', userAgent }, async (act) => {
    const known = await listsOf(act.db, token, act.standing)
    const isKept = ({ id }: PersonListRow) => choice.kept.includes(id)
    const offered = known.filter(({ id }) => choice.shown.includes(id))
    const leaving = offered.filter((one) => one.is_member && !isKept(one))
    const returning = offered.filter((one) => !one.is_member && isKept(one))
    let isNew = false
    await holdCounts(
      act.db,
      token.accountId,
      [...leaving, ...returning].map(({ id }) => id),
    )
    for (const { id } of leaving) isNew = (await leaveOne(act, id)) || isNew
    for (const { id } of returning) await returnToOne(act, id)
    if (choice.nothing) isNew = (await leaveAll(act)) || isNew
    else if (choice.wasNothing) await returnToAll(act)
    if (choice.opens) await decideOpens(act, choice.opens)
    const lists = choice.nothing ? 'all' : leaving.map(({ id }) => id)
    if (lists.length > 0) await recordEvent(act, { isNew, lists })
  })
}

function inTurn(asked: Asked, work: (act: Act) => Promise<void>): Promise<void> {
  const { token, source } = asked
  return asked.db.transaction(async (db) => {
    await lockPerson(db, token)
    const standing = await findStanding(db, token)
    if (!standing) return
    // Who signs up with an address that a contact has left behind is somebody new.
    const isMoved = standing.address !== token.email
    if (isMoved && source === 'double opt-in')
      return void (await deleteSuppression(db, token, ['unsubscribe']))
    if (isMoved) await lockPerson(db, { accountId: token.accountId, email: standing.address })
    await holdContactOf(db, token)
    await work({ ...asked, db, standing: (await findStanding(db, token)) ?? standing })
  })
}

/** That of the link, and where the person is now. */
const addressesOf = ({ token: { accountId, email }, standing: { address } }: Act) =>
  [...new Set([email, address])].map((one) => ({ accountId, email: one }))

const contactOf = ({ token: { accountId }, standing: { contact_id } }: Act) =>
  contact_id === null ? undefined : { accountId, contactId: contact_id }

/** Whether anything changed; likewise below. */
async function leaveAll(act: Act): Promise<boolean> {
  const { db, token, at } = act
  const isChanged = await changeTo('unsubscribed', act)
  if (!isChanged) await sayAgain(act)
  const why = {
    reason: 'unsubscribe',
    source: 'unsubscribe',
    messageId: token.messageId ?? null,
    at,
  } as const
  return (await suppressAll(db, addressesOf(act), why)) > 0 || isChanged
}

/** Said in an answer before, where it may be taken back as misunderstood: here it was not. */
async function sayAgain(act: Act): Promise<void> {
  const { status, status_source, contact_id } = act.standing
  if (contact_id === null || status !== 'unsubscribed' || status_source !== 'reply') return
  await note(act, { contact_id }, ['STATUS', status, status])
}

async function changeTo(status: 'subscribed' | 'unsubscribed', act: Act): Promise<boolean> {
  const contact = contactOf(act)
  const changed = contact && (await changeStatus(act.db, contact, status, act.at))
  const before = status === 'subscribed' ? 'unsubscribed' : 'subscribed'
  if (changed) await note(act, changed, ['STATUS', before, status])
  return changed !== undefined
}

async function returnToAll(act: Act): Promise<void> {
  const { db, standing } = act
  // Never a bounce or complaint: those are not the person's to take back, neither here nor upstream.
  for (const ref of addressesOf(act)) await deleteSuppression(db, ref, ['unsubscribe'])
  if (leftByChoice(standing)) await changeTo('subscribed', act)
}

async function leaveOne(act: Act, listId: string): Promise<boolean> {
  const contact = contactOf(act)
  const changed = contact && (await leaveList(act.db, contact, listId, act.at))
  if (changed) await noteList(act, changed, ['LIST', Number(listId), null])
  return changed !== undefined
}

async function returnToOne(act: Act, listId: string): Promise<void> {
  const contact = contactOf(act)
  const changed = contact && (await rejoinList(act.db, contact, listId, act.at))
  if (changed) await noteList(act, changed, ['LIST', null, Number(listId)])
}

/** Added to the consents, as the proof of what was said. A box that was left as it stood says nothing. */
async function decideOpens(act: Act, { mayBeNoted, words, ip }: NonNullable<Choice['opens']>): Promise<void> {
  const { db, at, source } = act
  const contact = contactOf(act)
  if (!contact || areOpensNoted(act.standing) !== !mayBeNoted) return
  await changeTrackingConsent(db, contact, mayBeNoted, at)
  const consent = { id: newUuid(), date: at, source, ip, text: words, tracking: mayBeNoted, keyId: null, at }
  await insertConsent(db, { ...contact, ...consent })
}

type Change = [attribute: string, from: unknown, to: unknown]

async function note(act: Act, changed: { contact_id: string }, [attribute, from, to]: Change): Promise<void> {
  const { at, source } = act
  const change = { id: newUuid(), ...changed, attribute, old_value: from, new_value: to }
  await insertChanges(act.db, { accountId: act.token.accountId, at, source }, [change])
}

async function noteList(act: Act, changed: { contact_id: string }, change: Change): Promise<void> {
  await touchContacts(act.db, act.token.accountId, [changed.contact_id], act.at)
  await note(act, changed, change)
}

/** `lists`: those that were left. */
type Left = { isNew: boolean; lists: 'all' | string[] }

const longestAgent = 500

async function recordEvent({ db, token, at, userAgent }: Act, { isNew, lists }: Left): Promise<void> {
  const { accountId, messageId } = token
  if (messageId === undefined) return
  const [listId, ...others] = lists === 'all' ? [] : lists.map(Number)
  const data = {
    ...(listId === undefined ? { scope: 'all' } : { scope: 'list', list_id: listId }),
    ...(others.length > 0 && { list_ids: [listId, ...others] }),
    ...(userAgent && { user_agent: userAgent.slice(0, longestAgent) }),
  }
  await insertUnsubscribeEvent(db, { id: newUuid(), accountId, messageId, at, data, isNew })
}
