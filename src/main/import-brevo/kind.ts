// One kind of thing that is copied, and what copying has at hand.
import type { WebhookNeeds } from '../../features/webhooks/write-webhook.ts'
import type { Ctx } from '../../kernel/ctx.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { type CopyRef, insertCopied, listCopied } from './queries.ts'
import type { Row, Source } from './source.ts'

export type Page = { rows: Row[]; total: number }
/** What was there already counts as copied. */
export type Tally = { copied: number; skipped: number }

export type Copying = {
  /** Its database is the transaction of the page. */
  ctx: Ctx
  source: string
  webhooks: WebhookNeeds
  /** Says why something is left out. */
  note: (text: string) => void
  /** The same of a contact that is copied without a value. */
  onIncomplete?: (text: string) => void
}

/** Under this kind stand the contacts that were copied without a value. */
export const incomplete = 'incomplete'

export type Kind = {
  name: string
  /** Rows in a full page; nothing when all come at once. */
  perPage?: number
  /** It is told by a number or a name which rows were copied; otherwise by how many. */
  hasIds: boolean
  read(source: Source, offset: number, webhooks: WebhookNeeds): Promise<Page>
  write(copying: Copying, rows: Row[]): Promise<Tally>
  /** For what has no numbers: of a page that an earlier run may have seen, what is new. */
  writeNews?(copying: Copying, rows: Row[], known: Known): Promise<Tally>
}

/** When the last run began that came to its end, and who was left out so far. */
export type Known = { since: Date; left: Set<string> }

export const refOf = ({ ctx, source }: Copying, kind: string): CopyRef => ({
  accountId: ctx.caller.accountId,
  source,
  kind,
})

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
export const rowOf = (value: unknown): Row =>
  typeof value === 'object' && value !== null ? (value as Row) : {}
export const rowsOf = (value: unknown): Row[] => (Array.isArray(value) ? value.map(rowOf) : [])
export const numbersOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

/** All pages of a list of the provider, the oldest first. */
export function paged(path: string, name: string, perPage: number): Pick<Kind, 'perPage' | 'read'> {
  return {
    perPage,
    async read(source, offset) {
      const body = await source.get(path, { limit: perPage, offset, sort: 'asc' })
      return { rows: rowsOf(body[name]), total: Number(body.count ?? 0) }
    },
  }
}

export function whole(path: string, name: string): Pick<Kind, 'read'> {
  return {
    async read(source) {
      const found = (await source.get(path))[name]
      const rows = Array.isArray(found)
        ? found.map((one) => (typeof one === 'string' ? { name: one } : rowOf(one)))
        : []
      return { rows, total: rows.length }
    },
  }
}

type Made = {
  theirs: (row: Row) => string
  /** Gives its number here, or 0 where it has none. */
  make: (copying: Copying, row: Row) => Promise<number>
}

/** Row by row; none is made twice. One that is refused here is left out and said so, and tried again next time. */
export function eachOnce(name: string, { theirs, make }: Made): Pick<Kind, 'name' | 'hasIds' | 'write'> {
  return {
    name,
    hasIds: true,
    async write(copying, rows) {
      const ref = refOf(copying, name)
      const known = new Set((await listCopied(copying.ctx.db, ref)).map((one) => one.theirs))
      let skipped = 0
      for (const row of rows.filter((one) => !known.has(theirs(one)))) {
        const ours = await attempt(copying, `${name} ${theirs(row)}`, () => make(copying, row))
        if (ours === undefined) skipped++
        else await insertCopied(copying.ctx.db, ref, { theirs: theirs(row), ours: String(ours) })
      }
      return { copied: rows.length - skipped, skipped }
    },
  }
}

async function attempt<T>({ note }: Copying, what: string, act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    note(`${what} is left out: ${error.message}`)
    return undefined
  }
}

/** The number here of a thing there. */
export async function oursOf(copying: Copying, kind: string): Promise<Map<string, number>> {
  const copied = await listCopied(copying.ctx.db, refOf(copying, kind))
  return new Map(copied.filter(({ ours }) => ours !== '0').map(({ theirs, ours }) => [theirs, Number(ours)]))
}
