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

export function readLimit(given: number | undefined, { usual, most }: { usual: number; most: number }) {
  const limit = given ?? usual
  if (limit >= 0 && limit <= most) return limit
  throw outOfRange({ message: `limit must be between 0 and ${most}`, param: 'limit' })
}

export function readOffset(given: number | undefined): number {
  const offset = given ?? 0
  if (offset >= 0 && offset <= Number.MAX_SAFE_INTEGER) return offset
  throw outOfRange({ message: 'offset must be at least 0', param: 'offset' })
}

type List<Row> = {
  name: string
  filter: Record<string, unknown>
  usual: number
  most: number
  /** The position of a row; its identifier when absent. */
  at?: (row: Row) => string
}

export function pageBySlice<Row extends { id: string }>(
  ctx: Ctx,
  query: ListQuery,
  { name, filter, usual, most, at = ({ id }) => id }: List<Row>,
  fetch: (slice: Slice) => Promise<Row[]>,
): Promise<Page<Row>> {
  const [limit, offset] = [readLimit(query.limit, { usual, most }), readOffset(query.offset)]
  const ascending = query.sort === 'asc'
  return pageOfRows(
    ctx,
    { list: name, filter: { ...filter, ascending }, limit, cursor: query.cursor || undefined },
    (after, rows) => fetch({ after, offset: after === undefined ? offset : 0, limit: rows, ascending }),
    at,
  )
}
