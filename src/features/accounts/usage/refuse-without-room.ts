import type { Ctx } from '../../../kernel/ctx.ts'
import { readUsage } from './read-usage.ts'
import { dailyCapReached, monthlyQuotaReached } from './refusals.ts'
import { nextDay, nextMonth, secondsUntil } from './spend-sending.ts'

/** For what is counted later, all at once: says at the call that it could not be. */
export async function refuseWithoutRoom(ctx: Ctx, count: number): Promise<void> {
  const { key, month } = await readUsage(ctx)
  const wanted = `${count} messages would go out, and `
  if (key.remaining !== null && count > key.remaining)
    throw dailyCapReached({
      message: `${wanted}the daily cap of the key, ${key.daily_cap}, leaves ${key.remaining} today.`,
      retryAfterSeconds: secondsUntil(nextDay(ctx.now), ctx.now),
    })
  if (month.remaining !== null && count > month.remaining)
    throw monthlyQuotaReached({
      message: `${wanted}the monthly quota of the account, ${month.quota}, leaves ${month.remaining}.`,
      retryAfterSeconds: secondsUntil(nextMonth(ctx.now), ctx.now),
    })
}
