import type { Ctx } from '../../../kernel/ctx.ts'
import { legalIdentityMissing } from '../module.ts'
import { findIdentity } from './queries.ts'

/** Nobody is enrolled and nothing runs before every message can name who writes. */
export async function requireIdentity(ctx: Ctx): Promise<void> {
  const found = await findIdentity(ctx.db, ctx.caller.accountId)
  if (!found?.company_name.trim() || !found.postal_address.trim()) throw legalIdentityMissing()
}
