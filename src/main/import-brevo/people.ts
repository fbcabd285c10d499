// Contacts and blocked addresses: many, so they are written page by page.

import { rowsOfJson } from '../../features/contacts/import/given-rows.ts'
import { importChunk } from '../../features/contacts/import/import-chunk.ts'
import { advanceProcess, insertProcess, markStored } from '../../features/contacts/import/process-queries.ts'
import { recordLeft } from '../../features/contacts/unsubscribe/queries.ts'
import { insertSuppressions } from '../../features/suppressions/queries.ts'
import type { Reason } from '../../features/suppressions/suppressions.ts'
import { normalEmail } from '../../kernel/email-address.ts'
import { newUuid } from '../../kernel/id.ts'
import {
  type Copying,
  type Kind,
  numbersOf,
  oursOf,
  paged,
  refOf,
  rowOf,
  type Tally,
  textOf,
} from './kind.ts'
import { insertCopied, listCopied } from './queries.ts'
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
  async write({ ctx, note }, rows) {
    const entries = rows.flatMap((row) => {
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
    await insertSuppressions(ctx.db, entries)
    return { copied: entries.length, skipped: rows.length - entries.length }
  },
}

export const contacts: Kind = {
  ...paged('/contacts', 'contacts', 500),
  name: 'contacts',
  hasIds: false,
  async write(copying, rows) {
    const { ctx } = copying
    const listIds = await oursOf(copying, 'lists')
    const process = await processOf(copying)
    const tally: Tally = { copied: 0, skipped: 0 }
    for (const group of groupsOf(rows, listIds)) {
      const claimed = {
        ...unclaimed,
        account_id: ctx.caller.accountId,
        id: process,
        settings: group.settings,
      }
      const done = await importChunk(ctx.db, claimed, [...rowsOfJson(group.rows.map(entryOf))], ctx.now)
      await advanceProcess(ctx.db, { accountId: ctx.caller.accountId, id: process }, done, ctx.now)
      for (const { line, email, reason } of done.faultyRows) {
        const theirs = String(group.rows[line - 1]?.id)
        copying.note(`contacts ${email || theirs} is left out: ${reason}`)
        await insertCopied(ctx.db, refOf(copying, 'contacts'), { theirs, ours: '0' })
      }
      tally.copied += done.created + done.updated
      tally.skipped += done.faulty
    }
    await recordLeft(ctx.db, ctx.caller.accountId, leftIn(rows, listIds), ctx.now)
    return tally
  },
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
