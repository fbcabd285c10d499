import type { Ctx } from '../../kernel/ctx.ts'
import { resolveNotice } from '../accounts/notices/notices.ts'
import { deleteOwnKeys } from './key-queries.ts'
import { deleteDomainRow, holdDomain } from './queries.ts'
import { unknownDomain } from './verify-domain.ts'

/**
 * Its keys go with it, those stored by hand excepted. An upstream keeps the domain: other accounts may send through it.
 */
export async function deleteDomain(ctx: Ctx, domain: string): Promise<void> {
  const ref = { accountId: ctx.caller.accountId, domain }
  if (!(await holdDomain(ctx.db, ref))) throw unknownDomain(domain)
  await deleteOwnKeys(ctx.db, ref)
  await deleteDomainRow(ctx.db, ref)
  await resolveNotice(ctx.db, { accountId: ref.accountId, code: 'domain_broken', subject: domain }, ctx.now)
}
