// Contacts and blocked addresses: many, so they are written page by page.

import { fittingRow } from '../../features/contacts/import/fitting-row.ts'
import { rowsOfJson } from '../../features/contacts/import/given-rows.ts'
import { importChunk, settable } from '../../features/contacts/import/import-chunk.ts'
import { advanceProcess, insertProcess, markStored } from '../../features/contacts/import/process-queries.ts'
import { recordLeft } from '../../features/contacts/unsubscribe/queries.ts'
import { insertSuppressions } from '../../features/suppressions/insert-queries.ts'
import { type Reason, suppressAll } from '../../features/suppressions/suppressions.ts'
import { normalEmail } from '../../kernel/email-address.ts'
import { newUuid } from '../../kernel/id.ts'
import {
  type Copying,
  incomplete,
  type Kind,
  numbersOf,
  oursOf,
  paged,
  refOf,
  rowOf,
  type Tally,
  textOf,
} from './kind.ts'
import { fillNewLists } from './new-lists.ts'
import { insertCopied, insertTold, listCopied } from './queries.ts'
import type { Row } from './source.ts'

const reasons: Record<string, Reason> = {
  unsubscribedViaMA: 'unsubscribe',
  unsubscribedViaEmail: 'unsubscribe',
  unsubscribedViaApi: 'unsubscribe',
  adminBlocked: 'manual',
  hardBounce: 'hard_bounce',
  contactFlaggedAsSpam: 'complaint',
}

export const blocked: Kind = {
  ...paged('/smtp/blockedContacts', 'contacts', 100),
  name: 'blockedContacts',
  hasIds: false,
  async write(copying, rows) {
    const entries = entriesIn(copying, rows)
    await insertSuppressions(copying.ctx.db, entries)
    return { copied: entries.length, skipped: rows.length - entries.length }
  },
  // Whoever was blocked before may have been let in again here.
  async writeNews(copying, rows, { since }) {
    const from = since.getTime() - clocksDifferMs
    const recent = rows.filter(({ blockedAt }) => !(Date.parse(textOf(blockedAt)) < from))
    const entries = entriesIn(copying, recent)
    const copied = await insertSuppressions(copying.ctx.db, entries)
    return { copied, skipped: recent.length - entries.length }
  },
}

const clocksDifferMs = 3_600_000

function entriesIn({ ctx, note }: Copying, rows: Row[]) {
  return rows.flatMap((row) => {
    const email = normalEmail(textOf(row.email))
    const at = new Date(textOf(row.blockedAt))
    if (email === undefined) {
      note(`blockedContacts ${textOf(row.email)} is left out: it is not an address`)
      return []
    }
    return {
      id: newUuid(),
      accountId: ctx.caller.accountId,
      email,
      reason: reasons[textOf(rowOf(row.reason).code)] ?? 'manual',
      source: 'import',
      messageId: null,
      at: Number.isNaN(at.getTime()) ? ctx.now : at,
    }
  })
}

export const contacts: Kind = {
  ...paged('/contacts', 'contacts', 500),
  name: 'contacts',
  hasIds: false,
  async write(copying, rows) {
    await tell(copying, rows)
    return writeContacts(copying, rows)
  },
  async writeNews(copying, rows, { left }) {
    const told = await tell(copying, rows)
    const isNew = (row: Row) => told.has(String(row.id)) || left.has(String(row.id))
    const known = rows.filter((row) => !isNew(row))
    await fillNewLists(copying, known)
    await takeOut(copying, known, told)
    return writeContacts(copying, rows.filter(isNew))
  },
}

async function writeContacts(copying: Copying, rows: Row[]): Promise<Tally> {
  const { ctx } = copying
  const { copied, faulty, lacking } = await importRows(copying, rows)
  await tellLacking(copying, lacking)
  for (const { row, email, reason } of faulty) {
    const theirs = String(row.id)
    copying.note(`contacts ${email || theirs} is left out: ${reason}`)
    await insertCopied(ctx.db, refOf(copying, 'contacts'), { theirs, ours: '0' })
  }
  await keepBlocked(
    copying,
    faulty.map(({ row }) => row),
  )
  const left = leftIn(rows, await oursOf(copying, 'lists'))
  await recordLeft(ctx.db, ctx.caller.accountId, left, ctx.now)
  return { copied, skipped: faulty.length }
}

/** Nobody is written to who may not be, though nothing else of the contact can be kept. */
async function keepBlocked({ ctx }: Copying, rows: Row[]): Promise<void> {
  const refs = rows.flatMap((row) => {
    const email = row.emailBlacklisted === true ? normalEmail(textOf(row.email)) : undefined
    return email === undefined ? [] : { accountId: ctx.caller.accountId, email }
  })
  if (refs.length === 0) return
  await suppressAll(ctx.db, refs, { reason: 'manual', source: 'import', messageId: null, at: ctx.now })
}

type Faulty = { row: Row; email: string; reason: string }
type Lacking = { row: Row; faults: string[] }
type Imported = { copied: number; faulty: Faulty[]; lacking: Lacking[] }

/** One value that does not fit here keeps nobody out, and nobody on a list or off it. */
async function importRows(copying: Copying, rows: Row[]): Promise<Imported> {
  const { db, caller, now } = copying.ctx
  const { accountId } = caller
  const id = await processOf(copying)
  const faulty: Faulty[] = []
  const lacking: Lacking[] = []
  const options = { attributes: await settable(db, accountId), emptyAttributes: false, now }
  for (const group of groupsOf(rows, await oursOf(copying, 'lists'))) {
    const claimed = { ...unclaimed, account_id: accountId, id, settings: group.settings }
    const fitting = [...rowsOfJson(group.rows.map(entryOf))].map((one) => fittingRow(one, options))
    const given = fitting.map(({ row }) => row)
    const done = await importChunk(db, claimed, given, now)
    await advanceProcess(db, { accountId, id }, done, now)
    for (const { line, email, reason } of done.faultyRows)
      faulty.push({ row: group.rows[line - 1] ?? {}, email, reason })
    const left = new Set(done.faultyRows.map(({ line }) => line))
    for (const { row, faults } of fitting)
      if (faults.length > 0 && !left.has(row.line))
        lacking.push({ row: group.rows[row.line - 1] ?? {}, faults })
  }
  return { copied: rows.length - faulty.length, faulty, lacking }
}

async function tellLacking(copying: Copying, lacking: Lacking[]): Promise<void> {
  for (const { row, faults } of lacking) {
    const text = `contacts ${textOf(row.email) || String(row.id)} is copied without a value: ${faults.join('; ')}`
    copying.note(text)
    copying.onIncomplete?.(text)
  }
  const ids = lacking.map(({ row }) => String(row.id))
  await insertTold(copying.ctx.db, refOf(copying, incomplete), ids)
}

/** What is said of the contacts for the first time: that they are there, and what they do not want any more. */
async function tell(copying: Copying, rows: Row[]): Promise<Set<string>> {
  const told = rows.flatMap((row) => [
    String(row.id),
    ...(row.emailBlacklisted === true ? [noMail(row)] : []),
    ...(row.smsBlacklisted === true ? [noSms(row)] : []),
    ...numbersOf(row.listUnsubscribed).map((list) => noList(row, list)),
  ])
  const news = await insertTold(copying.ctx.db, refOf(copying, 'told'), told)
  return new Set(news.map(({ theirs }) => theirs))
}

const noMail = ({ id }: Row) => `${String(id)} email`
const noSms = ({ id }: Row) => `${String(id)} sms`
const noList = ({ id }: Row, list: string) => `${String(id)} list ${list}`

/** Who unsubscribed there since is unsubscribed here; one who came back here is not told of again and stays. */
async function takeOut(copying: Copying, rows: Row[], told: Set<string>): Promise<void> {
  const { ctx } = copying
  const leaving = rows.map((row) => {
    const { SMS } = rowOf(row.attributes)
    return {
      ...(row.email ? { email: row.email } : { ext_id: row.ext_id, attributes: { SMS } }),
      emailBlacklisted: told.has(noMail(row)),
      smsBlacklisted: told.has(noSms(row)),
    }
  })
  const { faulty } = await importRows(
    copying,
    leaving.filter(({ emailBlacklisted, smsBlacklisted }) => emailBlacklisted || smsBlacklisted),
  )
  await keepBlocked(
    copying,
    faulty.map(({ row }) => row),
  )
  const lists = rows.map((row) => ({
    ...row,
    listUnsubscribed: numbersOf(row.listUnsubscribed).filter((list) => told.has(noList(row, list))),
  }))
  const left = leftIn(lists, await oursOf(copying, 'lists'))
  await recordLeft(ctx.db, ctx.caller.accountId, left, ctx.now)
}

const unclaimed = {
  file_url: null,
  next_chunk: 0,
  chunks: 0,
  faulty_rows: [],
  ignored_columns: [],
  attempts: 0,
}

const settingsOf = (listIds: string[], row: Row) => ({
  listIds,
  emailBlacklist: row.emailBlacklisted === true,
  smsBlacklist: row.smsBlacklisted === true,
  updateExisting: true,
  emptyAttributes: false,
  notifyUrl: null,
})

type Group = { settings: ReturnType<typeof settingsOf>; rows: Row[] }

// No more than the faults that an import names.
const mostTogether = 100

/** Those of the same lists and the same standing are written together. */
function groupsOf(rows: Row[], ours: Map<string, number>): Group[] {
  const groups = new Map<string, Group>()
  for (const row of rows) {
    const settings = settingsOf(translated(row.listIds, ours), row)
    const name = JSON.stringify(settings)
    const group = groups.get(name) ?? { settings, rows: [] }
    group.rows.push(row)
    groups.set(name, group)
  }
  return [...groups.values()].flatMap(({ settings, rows: all }) =>
    Array.from({ length: Math.ceil(all.length / mostTogether) }, (_, i) => ({
      settings,
      rows: all.slice(i * mostTogether, (i + 1) * mostTogether),
    })),
  )
}

const translated = (ids: unknown, ours: Map<string, number>) =>
  numbersOf(ids)
    .flatMap((id) => ours.get(id) ?? [])
    .sort((a, b) => a - b)
    .map(String)

// They are recorded for single contacts only.
const singleOnly = /^CONSENT_?(IP|TEXT)$/i

function entryOf(row: Row) {
  const attributes = Object.entries(rowOf(row.attributes)).filter(([name]) => !singleOnly.test(name))
  return {
    email: row.email,
    ext_id: row.ext_id,
    attributes: Object.fromEntries(attributes),
    consentDate: row.consentDate,
    consentSource: row.consentSource,
  }
}

function leftIn(rows: Row[], ours: Map<string, number>) {
  return rows.flatMap((row) => {
    const email = normalEmail(textOf(row.email))
    if (email === undefined) return []
    return translated(row.listUnsubscribed, ours).map((list_id) => ({ email, list_id }))
  })
}

/** The import that the contacts come from: one for the whole copy, over as far as the worker is concerned. */
async function processOf(copying: Copying): Promise<string> {
  const { ctx } = copying
  const { accountId } = ctx.caller
  const ref = refOf(copying, 'process')
  const [known] = await listCopied(ctx.db, ref)
  if (known) return known.ours
  const made = { accountId, settings: settingsOf([], {}), fileUrl: null, at: ctx.now }
  const { id } = await insertProcess(ctx.db, made)
  await markStored(ctx.db, { accountId, id }, { total: 0, chunks: 0 }, ctx.now)
  await insertCopied(ctx.db, ref, { theirs: 'contacts', ours: id })
  return id
}
