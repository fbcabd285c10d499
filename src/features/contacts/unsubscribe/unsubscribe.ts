// Leaving and coming back, whichever way it was asked for: one click in a mail program, our pages, a customer's page.
import type { Db } from '../../../kernel/db.ts'
import { newUuid } from '../../../kernel/id.ts'
import { deleteSuppression } from '../../suppressions/queries.ts'
import { suppress } from '../../suppressions/suppressions.ts'
import { insertChanges } from '../contacts/trail-queries.ts'
import {
  changeStatus,
  findStanding,
  insertUnsubscribeEvent,
  leaveList,
  listPersonLists,
  lockPerson,
  type PersonListRow,
  rejoinList,
} from './queries.ts'
import type { UnsubscribeToken } from './tokens.ts'

export type Standing = {
  accountName: string
  /** Of the token's scope: all mail, or its list. */
  status: 'subscribed' | 'unsubscribed'
  isUnsubscribedFromAll: boolean
  /** False where someone else than the person stopped the mail. */
  canReturnToAll: boolean
  lists: PersonListRow[]
}

/** Nothing when there is no such account. */
export async function readStanding(db: Db, token: UnsubscribeToken): Promise<Standing | undefined> {
  const found = await findStanding(db, token)
  if (!found) return undefined
  const lists = await listPersonLists(db, token)
  const isUnsubscribedFromAll = found.status === 'unsubscribed' || found.suppression === 'unsubscribe'
  const isOnList = token.listId === undefined || lists.some((one) => one.id === token.listId && one.is_member)
  return {
    accountName: found.account_name,
    status: isUnsubscribedFromAll || !isOnList ? 'unsubscribed' : 'subscribed',
    isUnsubscribedFromAll,
    canReturnToAll: isUnsubscribedFromAll && (found.status !== 'unsubscribed' || isOwn(found.status_source)),
    lists,
  }
}

const ownSources = ['unsubscribe', 'preferences', 'double opt-in'] as const
type Source = (typeof ownSources)[number]

const isOwn = (source: string | null) => ownSources.some((own) => own === source)

/** What leaving and coming back share. */
type Act = { db: Db; token: UnsubscribeToken; at: Date; source: Source; userAgent?: string | undefined }

export function unsubscribe(db: Db, token: UnsubscribeToken, at: Date, userAgent?: string): Promise<void> {
  return inTurn({ db, token, at, source: 'unsubscribe', userAgent }, async (act) => {
    const { listId } = token
    const isNew = listId === undefined ? await leaveAll(act) : await leaveOne(act, listId)
    await recordEvent(act, { isNew, lists: listId === undefined ? 'all' : [listId] })
  })
}

/** Takes back what `unsubscribe` did with the same token. */
export function resubscribe(
  db: Db,
  token: UnsubscribeToken,
  at: Date,
  source: Source = 'unsubscribe',
): Promise<void> {
  return inTurn({ db, token, at, source }, async (act) => {
    if (token.listId === undefined) await returnToAll(act)
    else await returnToOne(act, token.listId)
  })
}

/**
 * What was chosen, and what was shown before: lists that came since are left alone, and a page that was opened before
 * the person left everything does not bring them back.
 */
export type Choice = {
  shown: string[]
  kept: string[]
  nothing: boolean
  wasNothing: boolean
  userAgent?: string | undefined
}

export function savePreferences(db: Db, token: UnsubscribeToken, choice: Choice, at: Date): Promise<void> {
  const { userAgent } = choice
  return inTurn({ db, token, at, source: 'preferences', userAgent }, async (act) => {
    const known = await listPersonLists(act.db, token)
    const isKept = ({ id }: PersonListRow) => choice.kept.includes(id)
    const offered = known.filter(({ id }) => choice.shown.includes(id))
    const leaving = offered.filter((one) => one.is_member && !isKept(one))
    const returning = offered.filter((one) => !one.is_member && isKept(one))
    let isNew = false
    for (const { id } of leaving) isNew = (await leaveOne(act, id)) || isNew
    for (const { id } of returning) await returnToOne(act, id)
    if (choice.nothing) isNew = (await leaveAll(act)) || isNew
    else if (choice.wasNothing) await returnToAll(act)
    const lists = choice.nothing ? 'all' : leaving.map(({ id }) => id)
    if (lists.length > 0) await recordEvent(act, { isNew, lists })
  })
}

function inTurn(act: Act, work: (act: Act) => Promise<void>): Promise<void> {
  return act.db.transaction(async (db) => {
    await lockPerson(db, act.token)
    await work({ ...act, db })
  })
}

/** Whether anything changed; likewise below. */
async function leaveAll({ db, token, at, source }: Act): Promise<boolean> {
  const changed = await changeStatus(db, token, 'unsubscribed', at)
  if (changed) await note({ db, token, at, source }, changed, ['STATUS', 'subscribed', 'unsubscribed'])
  const why = {
    reason: 'unsubscribe',
    source: 'unsubscribe',
    messageId: token.messageId ?? null,
    at,
  } as const
  return (await suppress(db, token, why)) || changed !== undefined
}

async function returnToAll(act: Act): Promise<void> {
  const { db, token, at } = act
  // Never a bounce or complaint: those are not the person's to take back, neither here nor upstream.
  await deleteSuppression(db, token, ['unsubscribe'])
  const standing = await findStanding(db, token)
  if (!standing || !isOwn(standing.status_source)) return
  const changed = await changeStatus(db, token, 'subscribed', at)
  if (changed) await note(act, changed, ['STATUS', 'unsubscribed', 'subscribed'])
}

async function leaveOne(act: Act, listId: string): Promise<boolean> {
  const changed = await leaveList(act.db, act.token, listId, act.at)
  if (changed) await note(act, changed, ['LIST', Number(listId), null])
  return changed !== undefined
}

async function returnToOne(act: Act, listId: string): Promise<void> {
  const changed = await rejoinList(act.db, act.token, listId, act.at)
  if (changed) await note(act, changed, ['LIST', null, Number(listId)])
}

type Change = [attribute: string, from: unknown, to: unknown]

async function note(act: Act, changed: { contact_id: string }, [attribute, from, to]: Change): Promise<void> {
  const { at, source } = act
  const change = { id: newUuid(), ...changed, attribute, old_value: from, new_value: to }
  await insertChanges(act.db, { accountId: act.token.accountId, at, source }, [change])
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
