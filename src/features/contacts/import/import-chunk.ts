// One chunk of an import, in one transaction with the marker that says it is done.
import { type Db, overtaken } from '../../../kernel/db.ts'
import { newUuid } from '../../../kernel/id.ts'
import { suppressAll } from '../../suppressions/suppressions.ts'
import { listAttributes } from '../attributes/queries.ts'
import type { Attribute } from '../attributes/values.ts'
import { blacklistFirst } from '../contacts/carry-suppression.ts'
import { insertChanges } from '../contacts/trail-queries.ts'
import type { FaultyRow } from '../processes/queries.ts'
import { applyRow, changesOf, type Draft, draftsOf, isChanged } from './apply-rows.ts'
import { insertConsents, insertContacts, joinLists, lockKnown, updateContacts } from './contact-queries.ts'
import type { GivenRow } from './given-rows.ts'
import type { ClaimedProcess, Tally } from './process-queries.ts'
import { type ReadRow, RowFault, readRow } from './read-row.ts'

const mostFaultyRows = 100
const mostIgnored = 50
const longestName = 80

export async function importChunk(
  db: Db,
  process: ClaimedProcess,
  rows: GivenRow[],
  at: Date,
): Promise<Tally> {
  const { account_id: accountId, settings } = process
  const tally = { created: 0, updated: 0, skipped: 0 }
  const faults: FaultyRow[] = []
  const { emptyAttributes } = settings
  const options = { attributes: await settable(db, accountId), emptyAttributes, now: at }
  const read = rows.map((row) => ({ row, read: attempt(row, faults, () => readRow(row, options)) }))
  const good = read.flatMap((one) => one.read ?? [])
  const drafts = draftsOf(await lockKnown(db, accountId, identifiersOf(good)))
  for (const { row, read: one } of read) {
    const became = one && attempt(row, faults, () => applyRow(drafts, one, settings))
    if (became) tally[became]++
  }
  const meant = drafts.all.filter(({ isMeant }) => isMeant)
  const keptOut = await writeDrafts(db, process, meant, at)
  faults.sort((one, other) => one.line - other.line)
  const faultyRows = [...process.faulty_rows, ...faults].slice(0, mostFaultyRows)
  const ignoredColumns = ignoredIn(rows, options.attributes, process.ignored_columns)
  return { ...tally, keptOut, faulty: faults.length, faultyRows, ignoredColumns }
}

/** The first names, with those of the chunks before, that no value is kept under. */
function ignoredIn(rows: GivenRow[], known: Map<string, Attribute>, before: string[]): string[] {
  const names = new Set(before)
  for (const { attributes, ignored = [] } of rows) {
    const unknown = Object.keys(attributes).filter((name) => !known.has(name))
    for (const name of [...unknown, ...ignored]) {
      if (names.size >= mostIgnored) return [...names]
      if (name !== '') names.add(name.slice(0, longestName))
    }
  }
  return [...names]
}

export async function settable(db: Db, accountId: string): Promise<Map<string, Attribute>> {
  const all = await listAttributes(db, accountId)
  return new Map(all.filter(({ type }) => type !== null).map((one) => [one.name, one]))
}

function attempt<T>(row: GivenRow, faults: FaultyRow[], act: () => T): T | undefined {
  try {
    return act()
  } catch (error) {
    if (!(error instanceof RowFault)) throw error
    faults.push({ line: row.line, email: shownEmail(row.email), reason: error.message })
    return undefined
  }
}

const shownEmail = (given: unknown) =>
  typeof given === 'string' || typeof given === 'number' ? String(given).slice(0, 254) : ''

function identifiersOf(rows: ReadRow[]) {
  return {
    emails: rows.flatMap(({ email }) => email ?? []),
    extIds: rows.flatMap(({ extId }) => extId ?? []),
    phones: rows.flatMap(({ sms }) => sms ?? []),
  }
}

/** Gives how many contacts stay off a list that they left. */
async function writeDrafts(db: Db, process: ClaimedProcess, drafts: Draft[], at: Date): Promise<number> {
  const { account_id: accountId, id, settings } = process
  const written = await writeContacts(db, { accountId, importId: id }, drafts, at)
  const contact = (draft: Draft) => ({ id: newUuid(), contact_id: written.get(draft) ?? '' })
  const changes = drafts.flatMap((draft) =>
    changesOf(draft).map((change) => ({ ...change, ...contact(draft) })),
  )
  await insertChanges(db, { accountId, at, source: 'import' }, changes)
  const consents = drafts.flatMap((draft) =>
    draft.consents.map((consent) => ({ ...consent, ...contact(draft) })),
  )
  if (consents.length > 0) await insertConsents(db, { accountId, id }, consents, at)
  if (settings.emailBlacklist) {
    const refs = drafts.flatMap(({ now: { email } }) => (email ? { accountId, email } : []))
    await suppressAll(db, refs, { reason: 'manual', source: 'import', messageId: null, at })
  }
  const isFirst = ({ before, now }: Draft) => before?.email === null && now.email !== null
  const addressed = drafts.filter((draft) => isFirst(draft) && draft.before?.status === 'unsubscribed')
  const named = addressed.map((draft) => ({ id: written.get(draft) ?? '', email: draft.now.email ?? '' }))
  await blacklistFirst({ db, now: at, caller: { accountId } }, named)
  const { listIds, isTest = false } = settings
  if (listIds.length === 0 || drafts.length === 0) return 0
  const joining = drafts.map((draft) => ({
    contact_id: written.get(draft) ?? '',
    consented_at: draft.consentedAt,
  }))
  return joinLists(db, { accountId, listIds, isTest, at }, joining)
}

type Import = { accountId: string; importId: string }

/** The number of each contact, known or made just now. */
async function writeContacts(db: Db, { accountId, importId }: Import, drafts: Draft[], at: Date) {
  const ids = new Map<Draft, string>()
  for (const draft of drafts) if (draft.before) ids.set(draft, draft.before.id)
  const updates = drafts.filter((draft) => draft.before && isChanged(draft)).map(updateOf)
  if (updates.length > 0) await updateContacts(db, accountId, updates, at)
  const fresh = drafts.filter(({ before }) => !before)
  if (fresh.length === 0) return ids
  const fields = fresh.map(({ now }) => now)
  const made = await insertContacts(db, { accountId, importId }, fields, at)
  if (made.length < fresh.length) throw overtaken()
  const numbers = new Map(made.map((one) => [keyOf(one), one.id]))
  for (const draft of fresh) ids.set(draft, numbers.get(keyOf(draft.now)) ?? '')
  return ids
}

// An identifier that is there is unique, and the first one of both sides is the same.
function keyOf({ email, ext_id, sms }: Pick<Draft['now'], 'email' | 'ext_id' | 'sms'>): string {
  return email === null ? (ext_id === null ? `sms ${sms}` : `ext ${ext_id}`) : `email ${email}`
}

function updateOf({ before, now, consented }: Draft) {
  const removed = Object.keys(before?.attributes ?? {}).filter((name) => !(name in now.attributes))
  return { ...now, id: before?.id ?? '', removed, consented }
}
