// What sending asks of domains: which of them serve their accounts.
import type { Db } from '../../../kernel/db.ts'
import { servesDomain } from '../../domains/domain-states.ts'

export type DomainRef = { accountId: string; domain: string }

/** Those that serve, as `account domain`; one statement an account. */
export async function findServed(db: Db, refs: DomainRef[]): Promise<Set<string>> {
  const served: string[] = []
  for (const accountId of new Set(refs.map((ref) => ref.accountId))) {
    const own = refs.filter((ref) => ref.accountId === accountId)
    const domains = [...new Set(own.map(({ domain }) => domain))]
    const answers = await servesDomain(db, accountId, domains)
    served.push(...domains.filter((_, i) => answers[i]).map((domain) => `${accountId} ${domain}`))
  }
  return new Set(served)
}
