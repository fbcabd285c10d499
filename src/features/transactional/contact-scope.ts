// What a template may read of its recipient.
import type { Ctx } from '../../kernel/ctx.ts'
import { calculatorOf } from '../contacts/attributes/calculate.ts'
import { findContact } from '../contacts/contacts/queries.ts'

/** The contact's attributes under `contact`, looked up only where a template reads them. */
export async function contactScope(
  { db, caller, now }: Ctx,
  email: string | undefined,
  sources: (string | undefined)[],
): Promise<{ contact: Record<string, unknown> }> {
  const isRead = sources.some((source) => source !== undefined && /\{[{%][^}]*\bcontact\b/.test(source))
  const found =
    isRead && email !== undefined
      ? await findContact(db, caller.accountId, { email: email.toLowerCase() })
      : undefined
  if (!found) return { contact: {} }
  const attributes = (await calculatorOf(db, caller.accountId, now))(found.attributes)
  return { contact: { ...attributes, EMAIL: found.email, SMS: found.sms ?? undefined } }
}
