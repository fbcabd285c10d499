import type { Ctx } from '../../../kernel/ctx.ts'
import type { Refusal } from '../../../kernel/refusal.ts'
import { readUsage } from './read-usage.ts'
import { dailyCapReached, monthlyQuotaReached } from './refusals.ts'
import { againAt, nextDay, nextMonth } from './spend-sending.ts'

/** For what is counted later, all at once: why it could not be, as things are. */
export async function findNoRoom(ctx: Ctx, count: number): Promise<Refusal | undefined> {
  return noRoomIn(await readUsage(ctx), count, ctx.now)
}

type Usage = Awaited<ReturnType<typeof readUsage>>

function noRoomIn({ key, month }: Usage, count: number, now: Date): Refusal | undefined {
  const wanted = `${count === 1 ? '1 message' : `${count} messages`} would go out, and `
  if (key.remaining !== null && count > key.remaining)
    return dailyCapReached({
      message: `${wanted}the daily cap of the key, ${key.daily_cap}, leaves ${key.remaining} today.`,
      ...againAt(nextDay(now), now, count > (key.daily_cap ?? 0)),
    })
  if (month.remaining !== null && count > month.remaining)
    return monthlyQuotaReached({
      message: `${wanted}the monthly quota of the account, ${month.quota}, leaves ${month.remaining}.`,
      ...againAt(nextMonth(now), now, count > (month.quota ?? 0)),
    })
  return undefined
}

export async function refuseWithoutRoom(ctx: Ctx, count: number): Promise<void> {
  const refusal = await findNoRoom(ctx, count)
  if (refusal) throw refusal
}

/** For what goes another day: only what no day would have room for. `countAll` is asked where there are limits. */
export async function findBeyondLimits(
  ctx: Ctx,
  countAll: () => Promise<number>,
): Promise<Refusal | undefined> {
  const usage = await readUsage(ctx)
  if (usage.key.daily_cap === null && usage.month.quota === null) return undefined
  const refusal = noRoomIn(usage, await countAll(), ctx.now)
  return refusal?.told.retryable === false ? refusal : undefined
}

export async function refuseBeyondLimits(ctx: Ctx, countAll: () => Promise<number>): Promise<void> {
  const refusal = await findBeyondLimits(ctx, countAll)
  if (refusal) throw refusal
}
