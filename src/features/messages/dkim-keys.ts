// The keys that messages are signed with, sealed in the database.
import { createPrivateKey, type KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Db } from '../../kernel/db.ts'
import { unseal } from '../../kernel/seal.ts'
import { type DkimRef, dkimLabel } from '../domains/seal-key.ts'
import type { FindDkimKeys } from './compose-message.ts'
import { type DkimKeyRow, listDkimKeys } from './dkim-queries.ts'
import type { DkimKey } from './mime/dkim.ts'

/** The newest first: it seals; all of them open. */
export type SealNeeds = { db: Db; secretKeys: () => Promise<Buffer[]> }

// A key that was stored by another process is used after this time at the latest.
const keptMs = 60_000
const most = 2_000

/** Keys stay parsed for a while: reading one costs more than signing with it. */
export function dkimKeyFinder(needs: SealNeeds): FindDkimKeys {
  const known = new LRUCache<string, DkimKey[], { accountId: string; domain: string }>({
    max: most,
    ttl: keptMs,
    fetchMethod: (_key, _stale, { context }) => readKeys(needs, context),
  })
  return async (accountId, given) => {
    const domain = given.toLowerCase()
    return (await known.fetch(`${accountId} ${domain}`, { context: { accountId, domain } })) ?? []
  }
}

type Owner = { accountId: string; domain: string }

async function readKeys(needs: SealNeeds, { accountId, domain }: Owner): Promise<DkimKey[]> {
  const rows = await listDkimKeys(needs.db, accountId, domain)
  if (rows.length === 0) return []
  const secrets = await needs.secretKeys()
  return rows.map((row) => openKey(secrets, { accountId, domain, selector: row.selector }, row))
}

function openKey(secrets: Buffer[], ref: DkimRef, { private_key }: DkimKeyRow): DkimKey {
  const der = unseal(secrets, private_key, dkimLabel(ref))
  const privateKey = createPrivateKey({ key: der, type: 'pkcs8', format: 'der' })
  return { domain: ref.domain, selector: ref.selector, privateKey, algorithm: algorithmOf(privateKey) }
}

function algorithmOf({ asymmetricKeyType }: KeyObject): DkimKey['algorithm'] {
  if (asymmetricKeyType === 'rsa') return 'rsa-sha256'
  if (asymmetricKeyType === 'ed25519') return 'ed25519-sha256'
  throw new Error(`DKIM knows no keys of the type ${asymmetricKeyType}`)
}
