// What a template may read of its recipient: attributes, and the links that are theirs; and the time.
import type { Ctx } from '../../kernel/ctx.ts'
import { findContact } from '../contacts/contacts/queries.ts'
import { readableOf } from '../contacts/contacts/readable.ts'
import { recipientLinks } from '../messages/recipient-links.ts'

/** The contact's attributes under `contact`, looked up only where a template reads them; a stranger has an address. */
export async function contactScope(
  { db, caller, now }: Ctx,
  email: string | undefined,
  sources: (string | undefined)[],
  reads = readsContact,
): Promise<{ contact: Record<string, unknown>; time_now: Date } & typeof recipientLinks> {
  const others = { ...recipientLinks, time_now: now }
  const isRead = sources.some((source) => source !== undefined && reads(source))
  const found =
    isRead && email !== undefined
      ? await findContact(db, caller.accountId, { email: email.toLowerCase() })
      : undefined
  if (!found) return { contact: email === undefined ? {} : { EMAIL: email }, ...others }
  const readable = await readableOf(db, { accountId: caller.accountId, now }, found)
  return { contact: { ...readable, EMAIL: found.email }, ...others }
}

// Piece by piece: one expression for all of it would look through the rest of the text from each opening on.
export function readsContact(source: string): boolean {
  return source.split('}').some((piece) => {
    const at = piece.search(/\{[{%]/)
    return at >= 0 && /\bcontact\b/.test(piece.slice(at + 2))
  })
}
