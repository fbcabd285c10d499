// Which keys sign: only those that DNS shows, so that no message carries a signature nobody can check.
import type { Db } from '../../kernel/db.ts'
import { deleteOwnKey, updateOwnKey } from './key-queries.ts'
import type { OwnKey, RecordState } from './model.ts'
import type { DomainRef } from './queries.ts'
import { retiredKeptMs } from './wanted-records.ts'

type Settling = { keys: OwnKey[]; records: RecordState[]; at: Date }

export async function settleKeys(db: Db, ref: DomainRef, { keys, records, at }: Settling): Promise<OwnKey[]> {
  const known = ({ selector }: OwnKey) =>
    records.find(({ role, host }) => role === 'dkim' && host === `${selector}._domainkey.${ref.domain}`)
      ?.known ?? null
  const isTurn = keys.some((key) => key.stage === 'next' && known(key) === 'ok')
  const after = keys.map((key) => (isTurn ? turned(key, at) : key))
  const spare = spareOf(after, known)
  const kept: OwnKey[] = []
  for (const [i, key] of keys.entries()) {
    const settled = after[i] ?? key
    // One wrong answer does not take the key away that signs in place of another.
    if (!key.signs && isForgotten(settled, known(key), at)) await deleteOwnKey(db, ref, key.selector)
    else kept.push(await storeIfChanged(db, ref, key, withSigns(settled, known(key), spare)))
  }
  return kept
}

type Known = (key: OwnKey) => RecordState['known']

/**
 * The last one that rests, where DNS shows it and not the one that took over: of several name servers, not all have the
 * new record at once.
 */
function spareOf(keys: OwnKey[], known: Known): string | undefined {
  const current = keys.filter(({ stage }) => stage === 'current').map(known)
  if (current.some((state) => state === 'ok' || state === null)) return undefined
  const resting = keys.filter((key) => key.stage === 'retired' && known(key) === 'ok')
  return resting.sort((a, b) => restedAt(b) - restedAt(a))[0]?.selector
}

const restedAt = ({ retiredAt }: OwnKey) => retiredAt?.getTime() ?? 0

/** The new key was seen: it takes over, and the old one rests. */
function turned(key: OwnKey, at: Date): OwnKey {
  if (key.stage === 'next') return { ...key, stage: 'current' }
  return key.stage === 'current' ? { ...key, stage: 'retired', retiredAt: at } : key
}

/** While DNS cannot be read, a key goes on as before. */
function withSigns(key: OwnKey, known: RecordState['known'], spare: string | undefined): OwnKey {
  if (key.stage === 'retired') return { ...key, signs: key.selector === spare }
  return known === null ? key : { ...key, signs: known === 'ok' && key.stage === 'current' }
}

function isForgotten({ stage, retiredAt }: OwnKey, known: RecordState['known'], at: Date): boolean {
  const age = retiredAt ? at.getTime() - retiredAt.getTime() : 0
  return stage === 'retired' && known === 'missing' && age > retiredKeptMs
}

async function storeIfChanged(db: Db, ref: DomainRef, before: OwnKey, key: OwnKey): Promise<OwnKey> {
  if (before.signs !== key.signs || before.stage !== key.stage) await updateOwnKey(db, ref, key)
  return key
}
