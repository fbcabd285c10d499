// What follows when somebody asks to be left alone, and when it turns out that they did not.
import type { Db } from '../../../kernel/db.ts'
import { leaveByReply, returnByReply } from '../../contacts/unsubscribe/unsubscribe.ts'
import { byReply, liftByReply, suppress, wasSaidSince } from '../../suppressions/suppressions.ts'
import { stopProspect } from '../enrollments/stop-enrollments.ts'
import { asksElsewhere, type ReplyRef } from './reply-queries.ts'

type Whose = { accountId: string; prospectId: string | null; at: Date }

/** In the whole account. Gives the addresses that were free until now. */
export async function leaveAlone(db: Db, { accountId, prospectId, at }: Whose, emails: string[]) {
  const why = { ...byReply, messageId: null, at }
  const suppressed: string[] = []
  for (const email of [...new Set(emails)].sort()) {
    // The contact first, as everybody else does who changes both.
    await leaveByReply(db, { accountId, email }, at)
    if (await suppress(db, { accountId, email }, why)) suppressed.push(email)
  }
  if (prospectId !== null) await stopProspect(db, { accountId, prospectId }, 'unsubscribed', at)
  return suppressed
}

/** Only what this reply brought about; other wishes of the person stand. */
export async function takeBack(
  db: Db,
  reply: ReplyRef,
  { emails, suppressed, at }: { emails: string[]; suppressed: string[]; at: Date },
): Promise<void> {
  const { accountId } = reply
  for (const email of [...new Set([...emails, ...suppressed])].sort()) {
    if (await asksElsewhere(db, reply, email)) continue
    const isOurs = suppressed.includes(email)
    if (isOurs && (await wasSaidSince(db, { accountId, email }))) continue
    await returnByReply(db, { accountId, email }, at)
    if (isOurs) await liftByReply(db, { accountId, email })
  }
}
