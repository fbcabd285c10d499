import type { Ctx } from '../../../kernel/ctx.ts'
import { showId } from '../../../kernel/id.ts'
import { scopeNames } from '../../../kernel/scope.ts'
import { findUsage } from './queries.ts'
import { dayOf } from './spend-sending.ts'

export async function readUsage(ctx: Ctx) {
  const { caller } = ctx
  const found = await findUsage(ctx.db, caller.accountId, caller.keyId, dayOf(ctx.now))
  const month = { sent: Number(found.month_sent), quota: found.monthly_quota }
  const usedToday = Number(found.key_sent)
  return {
    month: { ...month, remaining: left(month.quota, month.sent) },
    day: { sent: Number(found.day_sent) },
    key: {
      id: showId('key', caller.keyId),
      name: caller.keyName,
      scopes: caller.scopes ?? [...scopeNames],
      daily_cap: caller.dailyCap,
      used_today: usedToday,
      remaining: left(caller.dailyCap, usedToday),
      sender_domains: caller.senderDomains,
      mode: caller.mode,
    },
  }
}

function left(most: number | null, used: number): number | null {
  return most === null ? null : Math.max(0, most - used)
}
