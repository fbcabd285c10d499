// Cursors are opaque: what the last row was and which filters the page had, signed,
// so that a cursor made by hand or used with other filters is refused instead of giving wrong rows.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { Ctx } from './ctx.ts'
import { canonicalJson } from './json.ts'
import { invalidParameter } from './refusals.ts'

const macBytes = 12

export type Page<Row> = { rows: Row[]; nextCursor: string | null }

type PageRequest = {
  list: string
  filter: Record<string, unknown>
  limit: number
  cursor: string | undefined
}

/** Fetches one row more than asked, to know whether a next page exists. `at` is the position of a row. */
export async function pageOfRows<Row>(
  ctx: Ctx,
  { list, filter, limit, cursor }: PageRequest,
  fetch: (after: string | undefined, limit: number) => Promise<Row[]>,
  at: (row: Row) => string,
): Promise<Page<Row>> {
  const binding = canonicalJson([list, ctx.caller.accountId, filter])
  const found = await fetch(
    cursor === undefined ? undefined : readCursor(ctx.cursorKey, binding, cursor),
    limit + 1,
  )
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  const more = found.length > limit && last !== undefined
  return { rows, nextCursor: more ? writeCursor(ctx.cursorKey, binding, at(last)) : null }
}

function macOf(key: Buffer, binding: string, position: string): Buffer {
  const bound = createHash('sha256').update(binding).digest()
  return createHmac('sha256', key).update(bound).update(position).digest().subarray(0, macBytes)
}

function writeCursor(key: Buffer, binding: string, position: string): string {
  return Buffer.concat([macOf(key, binding, position), Buffer.from(position)]).toString('base64url')
}

function readCursor(key: Buffer, binding: string, cursor: string): string {
  const raw = Buffer.from(cursor, 'base64url')
  const position = raw.subarray(macBytes).toString('utf8')
  const mac = macOf(key, binding, position)
  // The decoder skips characters it does not know, hence the comparison with the text as it came.
  const isWhole = raw.length > macBytes && raw.toString('base64url') === cursor
  if (isWhole && timingSafeEqual(raw.subarray(0, macBytes), mac)) return position
  throw invalidParameter({
    message: 'The cursor is not one that this list gave with these filters.',
    param: 'cursor',
    hint: 'Repeat the filters of the first page unchanged, or start again without a cursor.',
  })
}
