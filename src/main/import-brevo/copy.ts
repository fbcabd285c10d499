// Copies an account of the provider. A page and the mark behind it are written in one transaction: a run that was
// killed goes on where it stopped, and what was copied is not copied again. After a run that came to its end, the next
// one looks at everybody again: people unsubscribe, and what is deleted there moves the others up before the mark.
import { countBelievedEmpty } from '../../features/contacts/believed-empty-queries.ts'
import type { WebhookNeeds } from '../../features/webhooks/write-webhook.ts'
import { type Ctx, nobody } from '../../kernel/ctx.ts'
import type { Db } from '../../kernel/db.ts'
import { type Copying, incomplete, type Kind, type Tally } from './kind.ts'
import { kinds } from './kinds.ts'
import { markFilled, markOlder } from './new-lists.ts'
import {
  type CopyRef,
  deleteCopied,
  holdProgress,
  insertCopied,
  listCopied,
  listProgress,
  moveProgress,
} from './queries.ts'
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
  onIncomplete?: (text: string) => void
}

export type Counts = Record<string, Tally & { found: number }>

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
  const began = copy.now()
  const since = await lastBegun(copy)
  if (since) await copy.db.transaction((db) => markOlder(db, refOf(copy, runs)))
  for (const kind of kinds)
    counts[kind.name] = await (since && kind.writeNews
      ? copyNews(copy, kind, { since, write: kind.writeNews })
      : copyKind(copy, kind))
  await rememberBegun(copy, began)
  return counts
}

const runs = 'runs'
const lastEnded = 'last ended'

/** When the last run began that came to its end. */
async function lastBegun(copy: Copy): Promise<Date | undefined> {
  const [last] = await listCopied(copy.db, refOf(copy, runs))
  return last && new Date(Number(last.ours))
}

function rememberBegun(copy: Copy, began: Date): Promise<void> {
  const ref = refOf(copy, runs)
  return copy.db.transaction(async (db) => {
    await deleteCopied(db, ref, [lastEnded])
    await insertCopied(db, ref, { theirs: lastEnded, ours: String(began.getTime()) })
    await markFilled(db, ref)
  })
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

/** How many contacts were copied without a value, by this run or one before it. */
export async function countIncomplete(copy: Copy): Promise<number> {
  return (await listCopied(copy.db, refOf(copy, incomplete))).length
}

const nothing: Tally = { copied: 0, skipped: 0 }

const refOf = ({ accountId, name }: Copy, kind: string): CopyRef => ({ accountId, source: name, kind })

/** What has numbers is tried again whole by each run, so that nothing of it is left out for good. */
async function doneOf(copy: Copy, { name, hasIds }: Kind): Promise<Tally> {
  const ref = refOf(copy, name)
  if (hasIds) return { copied: (await listCopied(copy.db, ref)).length, skipped: 0 }
  const found = (await listProgress(copy.db, ref)).find(({ kind }) => kind === name)
  return { copied: Number(found?.copied ?? 0), skipped: Number(found?.skipped ?? 0) }
}

async function copyKind(copy: Copy, kind: Kind): Promise<Counts[string]> {
  const all = await listProgress(copy.db, refOf(copy, kind.name))
  const mark = Number(all.find((one) => one.kind === kind.name)?.next_offset ?? 0)
  if (!kind.hasIds) await tryAgain(copy, kind, mark)
  let offset = kind.hasIds ? 0 : mark
  const sum = { ...nothing }
  for (;;) {
    const { rows, total } = await kind.read(copy.source, offset, copy.webhooks)
    if (rows.length > 0) {
      const { next, tally } = await writePage(copy, kind, rows, offset)
      sum.copied += tally.copied
      sum.skipped += tally.skipped
      offset = next
    }
    copy.onProgress(kind.name, Math.max(offset, Math.min(mark, total)), total)
    if (rows.length === 0 || kind.perPage === undefined)
      return { found: total, ...(kind.hasIds ? sum : await doneOf(copy, kind)) }
  }
}

type News = { since: Date; write: NonNullable<Kind['writeNews']> }

async function copyNews(copy: Copy, kind: Kind, { since, write }: News): Promise<Counts[string]> {
  const ref = refOf(copy, kind.name)
  for (let offset = 0; ; ) {
    const { rows, total } = await kind.read(copy.source, offset, copy.webhooks)
    offset += rows.length
    if (rows.length > 0)
      await copy.db.transaction(async (db) => {
        const { next_offset } = await holdProgress(db, ref)
        const ids = rows.map(({ id }) => String(id))
        const left = new Set((await deleteCopied(db, ref, ids)).map(({ theirs }) => theirs))
        const { copied, skipped } = await write(copyingOf(copy, db), rows, { since, left })
        const done = { copied, skipped: skipped - left.size }
        await moveProgress(db, ref, { offset: Math.max(offset, Number(next_offset)), ...done })
      })
    await countBelievedEmpty(copy.db)
    copy.onProgress(kind.name, offset, total)
    if (rows.length === 0) return { found: total, ...(await doneOf(copy, kind)) }
  }
}

/** Of what came before the mark, those that were left out: the others may have been changed here since. */
async function tryAgain(copy: Copy, kind: Kind, mark: number): Promise<void> {
  const left = new Set((await listCopied(copy.db, refOf(copy, kind.name))).map(({ theirs }) => theirs))
  for (let offset = 0; left.size > 0 && offset < mark; ) {
    const { rows } = await kind.read(copy.source, offset, copy.webhooks)
    if (rows.length === 0) return
    const again = rows.filter((row) => left.delete(String(row.id)))
    if (again.length > 0) await writeAgain(copy, kind, again)
    offset += rows.length
  }
}

async function writeAgain(copy: Copy, kind: Kind, rows: Row[]): Promise<void> {
  const ref = refOf(copy, kind.name)
  await copy.db.transaction(async (db) => {
    const { next_offset } = await holdProgress(db, ref)
    const ids = rows.map(({ id }) => String(id))
    const taken = new Set((await deleteCopied(db, ref, ids)).map(({ theirs }) => theirs))
    const again = rows.filter(({ id }) => taken.has(String(id)))
    const { copied, skipped } = await kind.write(copyingOf(copy, db), again)
    await moveProgress(db, ref, { offset: Number(next_offset), copied, skipped: skipped - again.length })
  })
}

/** Gives where to go on: behind the page, or where somebody else has come to meanwhile. */
async function writePage(copy: Copy, kind: Kind, rows: Row[], offset: number) {
  const ref = refOf(copy, kind.name)
  const done = await copy.db.transaction(async (db) => {
    const held = Number((await holdProgress(db, ref)).next_offset)
    if (!kind.hasIds && held !== offset) return { next: held, tally: nothing }
    const tally = await kind.write(copyingOf(copy, db), rows)
    const next = offset + rows.length
    await moveProgress(db, ref, { offset: next, ...(kind.hasIds ? nothing : tally) })
    return { next, tally }
  })
  await countBelievedEmpty(copy.db)
  return done
}

const copyingOf = (copy: Copy, db: Db): Copying => ({
  ctx: contextOf(copy, db),
  source: copy.name,
  webhooks: copy.webhooks,
  note: copy.note,
  onIncomplete: copy.onIncomplete,
})

function contextOf({ accountId, now }: Copy, db: Db): Ctx {
  const caller = { ...nobody, accountId, keyName: 'import-brevo', scopes: null, dailyCap: null }
  const unused = { cursorKey: Buffer.alloc(0), takesMarketing: true }
  return { db, now: now(), caller, requestId: 'import-brevo', ...unused }
}
