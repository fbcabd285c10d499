// What stands against writing to a person, when their contact comes onto an address.
import type { Db } from '../../../kernel/db.ts'
import { newUuid } from '../../../kernel/id.ts'
import { insertBlockedSenders, listBlockedSenders } from '../../suppressions/blocked-sender-queries.ts'
import { findUnsubscription } from '../../suppressions/queries.ts'
import { carry, suppressAll } from '../../suppressions/suppressions.ts'
import { changeStatus, listBlacklisted } from '../unsubscribe/queries.ts'
import type { ContactBody } from './contact-body.ts'
import { insertChanges } from './trail-queries.ts'

type Writer = { db: Db; now: Date; caller: { accountId: string } }

/** What the person said goes along, about single senders too; a bounce was the old mailbox's. */
export async function carrySuppression(ctx: Writer, from: string | null, to: string | null): Promise<void> {
  if (from === null || to === null) return
  const ref = { accountId: ctx.caller.accountId, email: from }
  await carry(ctx.db, ref, { email: to, at: ctx.now })
  const blocked = await listBlockedSenders(ctx.db, ref)
  if (blocked.length === 0) return
  const blocks = blocked.map(({ sender }) => ({ id: newUuid(), sender }))
  await insertBlockedSenders(ctx.db, { ...ref, email: to }, blocks, ctx.now)
}

type Named = { id: string; email: string }

/** Of unsubscribed contacts that had no address until now: what was said of them had nothing to stand by. */
export async function blacklistFirst({ db, now: at, caller }: Writer, all: Named[]): Promise<void> {
  if (all.length === 0) return
  const { accountId } = caller
  const ids = all.map(({ id }) => id)
  const found = new Set((await listBlacklisted(db, accountId, ids)).map(({ contact_id }) => contact_id))
  const refs = all.filter(({ id }) => found.has(id)).map(({ email }) => ({ accountId, email }))
  await suppressAll(db, refs, { reason: 'manual', source: 'contact', messageId: null, at })
}

/** Whoever left has left, whichever contact the address belongs to by now. */
export async function comeOnto(
  { db, now, caller: { accountId } }: Writer,
  contactId: string,
  email: string | null,
  { emailBlacklisted }: ContactBody,
): Promise<void> {
  if (email === null || typeof emailBlacklisted === 'boolean') return
  const left = await findUnsubscription(db, { accountId, email })
  if (!left || !(await changeStatus(db, { accountId, contactId }, 'unsubscribed', now))) return
  // The reason as its source: what the person did is theirs to take back.
  await insertChanges(db, { accountId, at: now, source: left.reason }, [
    {
      id: newUuid(),
      contact_id: contactId,
      attribute: 'STATUS',
      old_value: 'subscribed',
      new_value: 'unsubscribed',
    },
  ])
}
