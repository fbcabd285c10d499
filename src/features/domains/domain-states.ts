// What is known of an account's domains, for other features; nothing here asks DNS.
import type { Db } from '../../kernel/db.ts'
import { type DomainRow, type Facts, notReady, type RecordState, type Status } from './model.ts'
import { findDomain, listDomains, listServed, type ServedRef } from './queries.ts'
import type { State } from './reading/reading.ts'
import { mostDomains } from './refusals.ts'
import { tellingRecord } from './show-domain.ts'

/** `state` is the last that DNS told; null: it has told none yet. */
export type Known = {
  state: State | null
  at: Date | null
  explanation: string
  found: string[]
  remarks: { code: string; message: string }[]
  facts: Facts
}

export type DomainState = {
  domain: string
  status: Status
  spf: Known
  dkim: Known
  dmarc: Known
  records: RecordState[]
  /** What the upstream says that does not send for it; null: nothing stands against it there. */
  notReady: string | null
  createdAt: Date
  verifiedAt: Date | null
  checkedAt: Date | null
}

/** All of the account's, newest first. */
export async function findDomains(db: Db, accountId: string): Promise<DomainState[]> {
  return (await listDomains(db, accountId, { limit: mostDomains })).map(stateOf)
}

/** Undefined when it is not declared. `domain` in its lower-case ASCII form. */
export async function findDomainState(
  db: Db,
  accountId: string,
  domain: string,
): Promise<DomainState | undefined> {
  const row = await findDomain(db, { accountId, domain })
  return row && stateOf(row)
}

/**
 * Tells of each domain whether its account may send from it: it is verified itself. A subdomain counts only when it is
 * declared, because it is signed with a key of its own.
 */
export async function servedDomains(db: Db, refs: ServedRef[]): Promise<(ref: ServedRef) => boolean> {
  const nameOf = ({ accountId, domain }: ServedRef) => `${accountId} ${domain}`
  const found = await listServed(db, refs)
  const served = new Set(found.map(({ account_id, domain }) => nameOf({ accountId: account_id, domain })))
  return (ref) => served.has(nameOf(ref))
}

function stateOf(row: DomainRow): DomainState {
  const { domain, status, records } = row
  const known = (role: RecordState['role']) => knownOf(tellingRecord(row, role))
  return {
    domain,
    status,
    records,
    notReady: notReady(row),
    spf: known('spf'),
    dkim: known('dkim'),
    dmarc: known('dmarc'),
    createdAt: row.created_at,
    verifiedAt: row.verified_at,
    checkedAt: row.checked_at,
  }
}

function knownOf(record: RecordState | undefined): Known {
  return {
    state: record?.known ?? null,
    at: record?.knownAt ? new Date(record.knownAt) : null,
    explanation: record?.explanation ?? '',
    found: record?.found ?? [],
    remarks: record?.remarks ?? [],
    facts: record?.facts ?? {},
  }
}
