import type { Ctx } from '../../kernel/ctx.ts'
import { notFound } from '../../kernel/refusals.ts'
import { resolveNotice } from '../accounts/notices/notices.ts'
import { deleteOwnKeys } from './key-queries.ts'
import { deleteDomainRow, holdDomain } from './queries.ts'
import { queueRemoval } from './removal-queries.ts'
import { notDeclared } from './verify-domain.ts'

const domainsHint = 'domain.list (GET /api/v1/domains) shows the declared domains.'

/**
 * Its keys go with it, those stored by hand excepted. At the upstream it is given up afterwards, where it was
 * registered for us and no other account has it: what somebody else set up there is not ours to remove.
 */
export async function deleteDomain(ctx: Ctx, domain: string): Promise<void> {
  const ref = { accountId: ctx.caller.accountId, domain }
  const found = await holdDomain(ctx.db, ref)
  // Without the offer to declare it: that is the last thing that is wanted.
  if (!found) throw notFound({ ...notDeclared(domain), hint: domainsHint })
  await deleteOwnKeys(ctx.db, ref)
  await deleteDomainRow(ctx.db, ref)
  if (found.upstream?.registered) await queueRemoval(ctx.db, ref)
  await resolveNotice(ctx.db, { accountId: ref.accountId, code: 'domain_broken', subject: domain }, ctx.now)
}
