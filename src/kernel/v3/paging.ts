// limit, offset and sort as the provider has them, and beside them the cursor that every list here has.
import { type Static, Type } from 'typebox'
import type { Ctx } from '../ctx.ts'
import { type Page, pageOfRows } from '../page.ts'
import { closed, words } from '../schema.ts'
import { outOfRange } from './refusals.ts'

export const listQuery = {
  limit: Type.Optional(Type.Integer({ description: 'Rows per page' })),
  offset: Type.Optional(Type.Integer({ description: 'Rows to skip' })),
  sort: Type.Optional(words(['asc', 'desc'], { description: 'By creation; desc when absent' })),
  cursor: Type.Optional(
    Type.String({ maxLength: 1024, description: 'next_cursor of the page before; offset is then ignored' }),
  ),
}

const ListQuery = closed(listQuery)
type ListQuery = Static<typeof ListQuery>

/** What a statement needs to give one page. */
export type Slice = { after: string | undefined; offset: number; limit: number; ascending: boolean }

type Limits = { usual: number; most: number; least?: 1 }

/** Lists of the provider can be asked for no rows, to get their count; others cannot. */
export function readLimit(given: number | undefined, { usual, most, least }: Limits): number {
  const [limit, from] = [given ?? usual, least ?? 0]
  if (limit >= from && limit <= most) return limit
  throw outOfRange({ message: `limit must be between ${from} and ${most}`, param: 'limit' })
}

export function readOffset(given: number | undefined): number {
  const offset = given ?? 0
  if (offset >= 0 && offset <= Number.MAX_SAFE_INTEGER) return offset
  const message = `offset must be between 0 and ${Number.MAX_SAFE_INTEGER}`
  throw outOfRange({ message, param: 'offset' })
}

/** The limits of lists that the provider does not have. */
export const ownLimits = { usual: 50, most: 200, least: 1 } as const

type List<Row> = Limits & {
  name: string
  filter: Record<string, unknown>
  /** The position of a row; its identifier when absent. */
  at?: (row: Row) => string
}

export function pageBySlice<Row extends { id: string }>(
  ctx: Ctx,
  query: ListQuery,
  { name, filter, at = ({ id }) => id, ...limits }: List<Row>,
  fetch: (slice: Slice) => Promise<Row[]>,
): Promise<Page<Row>> {
  const [limit, offset] = [readLimit(query.limit, limits), readOffset(query.offset)]
  const ascending = query.sort === 'asc'
  return pageOfRows(
    ctx,
    { list: name, filter: { ...filter, ascending }, limit, cursor: query.cursor || undefined },
    (after, rows) => fetch({ after, offset: after === undefined ? offset : 0, limit: rows, ascending }),
    at,
  )
}

type Counted<Row> = { fetch: (slice: Slice) => Promise<Row[]>; count: () => Promise<number> }

/**
 * A page, and how many rows there are in all, where counting and skipping look at each of them: whoever asks for what
 * is behind the last is told so without a walk, and a first page that is the last has them all.
 */
export async function countedPage<Row extends { id: string }>(
  ctx: Ctx,
  query: ListQuery,
  list: List<Row>,
  { fetch, count }: Counted<Row>,
): Promise<Page<Row> & { count: number }> {
  const isFirst = !query.cursor && !query.offset
  const before = isFirst || query.cursor ? undefined : await count()
  const page = await pageBySlice(ctx, query, list, async (slice) =>
    before !== undefined && slice.offset >= before ? [] : fetch(slice),
  )
  const isAll = isFirst && page.nextCursor === null && query.limit !== 0
  return { ...page, count: before ?? (isAll ? page.rows.length : await count()) }
}
