// The rules of a key that every sending path obeys: HTTP, campaigns, relay.
import { domainToASCII } from 'node:url'
import type { Caller, Ctx } from '../../../kernel/ctx.ts'
import { spendDay, spendMonth } from './queries.ts'
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

/** Counts messages against quota and cap, inside the transaction that accepts them: all of them or none. */
export async function spendSending(ctx: Ctx, count: number): Promise<void> {
  const { accountId, keyId, dailyCap } = ctx.caller
  // Always in this order, so that two batches of one account cannot wait for each other.
  if ((await spendMonth(ctx.db, { accountId, count }, monthOf(ctx.now))) === 0) {
    throw monthlyQuotaReached({ retryAfterSeconds: secondsUntil(nextMonth(ctx.now), ctx.now) })
  }
  if ((await spendDay(ctx.db, { accountId, count }, keyId, dayOf(ctx.now))) === 0) {
    throw dailyCapReached({
      message: `The daily sending cap of the key, ${dailyCap} messages, is reached.`,
      retryAfterSeconds: secondsUntil(nextDay(ctx.now), ctx.now),
    })
  }
}

export function dayOf(now: Date): string {
  return now.toISOString().slice(0, 10)
}

function monthOf(now: Date): string {
  return `${now.toISOString().slice(0, 7)}-01`
}

function nextDay(now: Date): number {
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1)
}

function nextMonth(now: Date): number {
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)
}

function secondsUntil(then: number, now: Date): number {
  return Math.ceil((then - now.getTime()) / 1000)
}
