// What sending asks of domains: whether one serves an account.
import type { Db } from '../../../kernel/db.ts'

export type DomainRef = { accountId: string; domain: string }

/** Those that serve, as `account domain`. */
export async function findServed(_db: Db, _refs: DomainRef[]): Promise<Set<string>> {
  return new Set()
}
