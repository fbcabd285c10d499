import type { Db } from '../../../kernel/db.ts'
import { raiseNotice, resolveNotice } from '../../accounts/notices/notices.ts'
import type { Ref } from './campaign-queries.ts'

const about = ({ account_id, id }: Ref) =>
  ({ accountId: account_id, code: 'campaign_interrupted', subject: id }) as const

/** Nobody asked for it, so somebody is to hear of it. */
export async function tellInterrupted(tx: Db, ref: Ref, reason: string, at: Date): Promise<void> {
  await raiseNotice(tx, { ...about(ref), message: `Campaign ${ref.id} is interrupted. ${reason}` }, at)
}

export async function tellGoesOn(tx: Db, ref: Ref, at: Date): Promise<void> {
  await resolveNotice(tx, about(ref), at)
}
