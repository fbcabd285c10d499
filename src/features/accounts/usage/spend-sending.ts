// The rules of a key that every sending path obeys: HTTP, campaigns, relay.
import { domainToASCII } from 'node:url'
import type { Caller, Ctx } from '../../../kernel/ctx.ts'
import type { Db } from '../../../kernel/db.ts'
import type { Refusal, Told } from '../../../kernel/refusal.ts'
import { findSpent, giveBack, giveBackMonth, spend, spendAll } from './queries.ts'
import { dailyCapReached, monthlyQuotaReached, senderDomainNotAllowed } from './refusals.ts'

/** The key's domains are stored in the same form. */
export function normalDomain(domain: string): string {
  const name = domain.trim().replace(/\.$/, '')
  // The converter reads a host out of an address: what only resembles a domain would pass for one.
  return /[/\\?#:@%\s]/.test(name) ? '' : domainToASCII(name).toLowerCase()
}

export function refuseForeignSender(caller: Caller, senderDomain: string): void {
  if (caller.senderDomains === null || caller.senderDomains.includes(normalDomain(senderDomain))) return
  throw senderDomainNotAllowed({
    message: `The key may not send from ${senderDomain}.`,
    param: 'from',
    hint: `This key sends from: ${caller.senderDomains.join(', ') || 'no domain'}.`,
  })
}

/**
 * How many of the messages may go, and why no more than that; and why not all, for those that go together or not at
 * all: to them cap or quota may still leave something, only too little.
 */
export type Spent = { granted: number; refusal?: Refusal; refusalOfAll?: Refusal }

/**
 * Counts messages against quota and cap, inside the transaction that accepts them, and takes what is left when
 * not all of them fit.
 */
export async function spendUpTo(db: Db, caller: Caller, count: number, now: Date): Promise<Spent> {
  const { accountId, keyId, dailyCap } = caller
  const spending = { accountId, keyId, count, month: monthOf(now), day: dayOf(now) }
  if (db.optimistic) {
    await spendAll(db, spending)
    return { granted: count }
  }
  const granted = await spend(db, spending)
  if (granted.day < granted.month) {
    await giveBackMonth(db, spending, granted.month - granted.day)
    return spentUp(granted.day, capRefusal(dailyCap, now), { count, left: `leaves ${granted.day} today` })
  }
  if (granted.month === count) return { granted: count }
  return spentUp(granted.month, quotaRefusal(now), { count, left: `leaves ${granted.month}` })
}

const capRefusal =
  (cap: number | null, now: Date): Refuse =>
  (message, needed) =>
    dailyCapReached({
      message: `The daily sending cap of the key, ${cap} messages, ${message}`,
      ...againAt(nextDay(now), now, needed > (cap ?? 0)),
    })

const quotaRefusal =
  (now: Date): Refuse =>
  (message) =>
    monthlyQuotaReached({
      message: `The monthly quota of the account ${message}`,
      ...againAt(nextMonth(now), now),
    })

type Refuse = (message: string, needed: number) => Refusal

function spentUp(granted: number, refuse: Refuse, { count, left }: { count: number; left: string }): Spent {
  const refusalOfAll =
    granted === 0 ? refuse('is reached.', count) : refuse(`${left}, and this needs ${count}.`, count)
  return { granted, refusal: refuse('is reached.', 1), refusalOfAll }
}

/** Waiting is of no use to what is more than the whole limit. */
export function againAt(then: number, now: Date, isBeyond = false): Told {
  const retryAfterSeconds = Math.ceil((then - now.getTime()) / 1000)
  if (!isBeyond) return { retryAfterSeconds, opensAt: new Date(then) }
  return { retryable: false, hint: 'It is more than the whole limit: split it, or have the limit raised.' }
}

/** All of them or none, when the transaction is to go on: gives why none. */
export async function spendAllOrNone(
  db: Db,
  caller: Caller,
  count: number,
  now: Date,
): Promise<Refusal | undefined> {
  const { granted, refusalOfAll } = await spendUpTo(db, caller, count, now)
  if (refusalOfAll && granted > 0) await unspend(db, caller, granted, now)
  return refusalOfAll
}

/** Why one more message could not go, as things are; nothing is counted, nobody waits, and nothing is asked in vain. */
export async function listSpent(
  db: Db,
  asked: { caller: Caller; now: Date }[],
): Promise<(Refusal | undefined)[]> {
  const bound = asked.filter(({ caller: { dailyCap, hasQuota } }) => dailyCap !== null || hasQuota)
  const refs = bound.map(({ caller: { accountId, keyId }, now }) => ({
    ...{ accountId, keyId },
    ...{ day: dayOf(now), month: monthOf(now) },
  }))
  const found = refs.length > 0 ? await findSpent(db, refs) : []
  const spent = new Map(found.map((one) => [one.key_id, one]))
  return asked.map(({ caller, now }) => {
    const of = spent.get(caller.keyId)
    if (!of) return undefined
    return (of.is_month_spent ? quotaRefusal(now) : capRefusal(of.daily_cap, now))('is reached.', 1)
  })
}

/** What was accepted at that time and will not be sent counts no more. */
export async function unspend(
  db: Db,
  { accountId, keyId }: Pick<Caller, 'accountId' | 'keyId'>,
  count: number,
  at: Date,
): Promise<void> {
  await giveBack(db, { accountId, keyId, count, month: monthOf(at), day: dayOf(at) })
}

/** All of them or none. */
export async function spendSending(ctx: Ctx, count: number): Promise<void> {
  const { refusalOfAll } = await spendUpTo(ctx.db, ctx.caller, count, ctx.now)
  if (refusalOfAll) throw refusalOfAll
}

export function dayOf(now: Date): string {
  return now.toISOString().slice(0, 10)
}

export function monthOf(now: Date): string {
  return `${now.toISOString().slice(0, 7)}-01`
}

export function nextDay(now: Date): number {
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1)
}

export function nextMonth(now: Date): number {
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)
}
