// Room for a campaign is taken when it is started: another that is started meanwhile is told that there is none.
import type { Ctx } from '../../../kernel/ctx.ts'
import type { Db } from '../../../kernel/db.ts'
import { spendSending, unspend } from '../../accounts/usage/spend-sending.ts'
import type { Ref } from './campaign-queries.ts'
import { eachCampaign } from './each-campaign.ts'
import {
  insertReservation,
  listIdleReservations,
  takeIdleReservation,
  takeReservation,
} from './reservation-queries.ts'

/** In the transaction that starts it. Throws where there is no room. */
export async function reserveSending(ctx: Ctx, id: string, count: number): Promise<void> {
  if (count === 0) return
  const { accountId, keyId } = ctx.caller
  await spendSending(ctx, count)
  await insertReservation(ctx.db, { account_id: accountId, id }, { key_id: keyId, count, at: ctx.now })
}

/** Once, in the transaction that counts what it is really for, or by the job. */
export async function giveBackReserved(tx: Db, ref: Ref, take = takeReservation): Promise<void> {
  const reserved = await take(tx, ref)
  if (!reserved) return
  const { key_id: keyId, count, at } = reserved
  await unspend(tx, { accountId: ref.account_id, keyId }, count, at)
}

export async function giveBackIdle(db: Db): Promise<void> {
  await eachCampaign(await listIdleReservations(db), (ref) =>
    db.transaction((tx) => giveBackReserved(tx, ref, takeIdleReservation)),
  )
}
