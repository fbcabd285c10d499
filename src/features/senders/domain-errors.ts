import type { Ctx } from '../../kernel/ctx.ts'
import { findDomainState } from '../domains/domain-states.ts'

/** By what is stored of the domain; what is not known to be right is not said to be. */
export async function domainErrors({ db, caller }: Ctx, domain: string) {
  const found = await findDomainState(db, caller.accountId, domain)
  return { spfError: found?.spf.state !== 'ok', dkimError: found?.dkim.state !== 'ok' }
}
