// The keys that messages are signed with, sealed in the database.
import { createPrivateKey, type KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Db } from '../../kernel/db.ts'
import { gather } from '../../kernel/gather.ts'
import { unseal } from '../../kernel/seal.ts'
import { type DkimRef, dkimLabel } from '../domains/seal-key.ts'
import type { FindDkimKeys } from './compose-message.ts'
import { type DkimKeyRow, type DkimOwner, listDkimKeys } from './dkim-queries.ts'
import type { DkimKey } from './mime/dkim.ts'

/** The newest first: it seals; all of them open. */
export type SealNeeds = { db: Db; secretKeys: () => Promise<Buffer[]> }

// What every process sees of a change after this time at the latest: a key that begins to sign, or ceases to.
const keptMs = 2_000
// Of a domain without one, since it may just be on its way to the first.
const noneKeptMs = 1_000
const most = 2_000

/** Keys stay parsed for as long as they stand: reading one costs more than signing with it. */
export function dkimKeyFinder({ db, secretKeys }: SealNeeds): FindDkimKeys {
  const look = gather((owners: DkimOwner[]) => rowsOf(db, owners))
  const open = keyOpener(secretKeys)
  const known = new LRUCache<string, DkimKey[], DkimOwner>({
    max: most,
    ttl: keptMs,
    fetchMethod: async (_key, _stale, { context, options }) => {
      const rows = await look(context)
      if (rows.length === 0) options.ttl = noneKeptMs
      return Promise.all(rows.map(open))
    },
  })
  return async (accountId, given) => {
    const domain = given.toLowerCase()
    return (await known.fetch(`${accountId} ${domain}`, { context: { accountId, domain } })) ?? []
  }
}

async function rowsOf(db: Db, owners: DkimOwner[]): Promise<DkimKeyRow[][]> {
  const rows = await listDkimKeys(db, owners)
  return owners.map(({ accountId, domain }) =>
    rows.filter((one) => one.account_id === accountId && one.domain === domain),
  )
}

function keyOpener(secretKeys: SealNeeds['secretKeys']) {
  const opened = new LRUCache<string, { sealed: Buffer; key: DkimKey }>({ max: most })
  return async ({ account_id, domain, selector, private_key: sealed }: DkimKeyRow): Promise<DkimKey> => {
    const name = `${account_id} ${domain} ${selector}`
    const before = opened.get(name)
    if (before?.sealed.equals(sealed)) return before.key
    const key = openKey(await secretKeys(), { accountId: account_id, domain, selector }, sealed)
    opened.set(name, { sealed, key })
    return key
  }
}

function openKey(secrets: Buffer[], ref: DkimRef, sealed: Buffer): DkimKey {
  const der = unseal(secrets, sealed, dkimLabel(ref))
  const privateKey = createPrivateKey({ key: der, type: 'pkcs8', format: 'der' })
  return { domain: ref.domain, selector: ref.selector, privateKey, algorithm: algorithmOf(privateKey) }
}

function algorithmOf({ asymmetricKeyType }: KeyObject): DkimKey['algorithm'] {
  if (asymmetricKeyType === 'rsa') return 'rsa-sha256'
  if (asymmetricKeyType === 'ed25519') return 'ed25519-sha256'
  throw new Error(`DKIM knows no keys of the type ${asymmetricKeyType}`)
}
