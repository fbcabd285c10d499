// Copies an account of the provider. A page and the mark behind it are written in one transaction: a run that was
// killed goes on where it stopped, and what was copied is not copied again.
import { countBelievedEmpty } from '../../features/contacts/believed-empty-queries.ts'
import type { WebhookNeeds } from '../../features/webhooks/write-webhook.ts'
import { type Ctx, nobody } from '../../kernel/ctx.ts'
import type { Db } from '../../kernel/db.ts'
import type { Kind } from './kind.ts'
import { kinds } from './kinds.ts'
import { type CopyRef, holdProgress, listCopied, listProgress, moveProgress } from './queries.ts'
import type { Row, Source } from './source.ts'

export type Copy = {
  db: Db
  source: Source
  /** What the source is called in the marks. */
  name: string
  accountId: string
  webhooks: WebhookNeeds
  now: () => Date
  onProgress: (kind: string, done: number, total: number) => void
  note: (text: string) => void
}

export type Counts = Record<string, { found: number; copied: number; skipped: number }>

/** The account is called by its number, or by its address, so that another key of it goes on with the same copy. */
export async function nameOf(source: Source, url: string): Promise<string> {
  const { organization_id, email } = await source.get('/account')
  return `${new URL(url).origin} ${String(organization_id || email)}`
}

/** What would be copied, without writing anything. */
export async function survey(copy: Copy): Promise<Counts> {
  const counts: Counts = {}
  for (const kind of kinds) {
    const { total } = await kind.read(copy.source, 0, copy.webhooks)
    counts[kind.name] = { found: total, ...(await doneOf(copy, kind)) }
  }
  return counts
}

export async function copyAll(copy: Copy): Promise<Counts> {
  const counts: Counts = {}
  for (const kind of kinds) {
    const found = await copyKind(copy, kind)
    counts[kind.name] = { found, ...(await doneOf(copy, kind)) }
  }
  return counts
}

/** By kind, the number here for each number there. */
export async function copiedIds(copy: Copy): Promise<Record<string, Record<string, number>>> {
  const ids: Record<string, Record<string, number>> = {}
  for (const { name } of kinds.filter(({ hasIds }) => hasIds)) {
    const copied = await listCopied(copy.db, refOf(copy, name))
    const numbered = copied.filter(({ ours }) => ours !== '0')
    if (numbered.length > 0)
      ids[name] = Object.fromEntries(numbered.map((one) => [one.theirs, Number(one.ours)]))
  }
  return ids
}

const refOf = ({ accountId, name }: Copy, kind: string): CopyRef => ({ accountId, source: name, kind })

async function doneOf(copy: Copy, { name }: Kind) {
  const all = await listProgress(copy.db, refOf(copy, name))
  const found = all.find(({ kind }) => kind === name)
  return { copied: Number(found?.copied ?? 0), skipped: Number(found?.skipped ?? 0) }
}

/** Gives how many of it there are. */
async function copyKind(copy: Copy, kind: Kind): Promise<number> {
  const all = await listProgress(copy.db, refOf(copy, kind.name))
  const mark = Number(all.find((one) => one.kind === kind.name)?.next_offset ?? 0)
  let offset = kind.hasIds ? 0 : mark
  for (;;) {
    const { rows, total } = await kind.read(copy.source, offset, copy.webhooks)
    if (rows.length > 0) offset = await writePage(copy, kind, rows, offset)
    copy.onProgress(kind.name, Math.max(offset, Math.min(mark, total)), total)
    if (rows.length === 0 || kind.perPage === undefined) return total
  }
}

/** Gives where to go on: behind the page, or where somebody else has come to meanwhile. */
async function writePage(copy: Copy, kind: Kind, rows: Row[], offset: number): Promise<number> {
  const ref = refOf(copy, kind.name)
  const next = await copy.db.transaction(async (db) => {
    const held = Number((await holdProgress(db, ref)).next_offset)
    if (!kind.hasIds && held !== offset) return held
    const { name: source, webhooks, note } = copy
    const ctx = contextOf(copy, db)
    const tally = await kind.write({ ctx, source, webhooks, note }, rows)
    await moveProgress(db, ref, { offset: offset + rows.length, ...tally })
    return offset + rows.length
  })
  await countBelievedEmpty(copy.db)
  return next
}

function contextOf({ accountId, now }: Copy, db: Db): Ctx {
  const caller = { ...nobody, accountId, keyName: 'import-brevo', scopes: null, dailyCap: null }
  return { db, now: now(), caller, requestId: 'import-brevo', cursorKey: Buffer.alloc(0) }
}
