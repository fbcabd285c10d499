// A list as callers see it, alone and in pages; folders show theirs in the same way.
import { type Static, Type } from 'typebox'
import type { Ctx } from '../../../kernel/ctx.ts'
import { closed, orNull, Time } from '../../../kernel/schema.ts'
import { type listQuery, pageBySlice } from '../../../kernel/v3/paging.ts'
import { countLists, type ListFilter, type ListRow, listLists } from './queries.ts'

const fields = {
  id: Type.Integer(),
  name: Type.String(),
  folderId: Type.Integer({ description: '0: in no folder' }),
  uniqueSubscribers: Type.Integer(),
  totalSubscribers: Type.Integer(),
  totalBlacklisted: Type.Integer(),
}

const List = closed(fields)

export const WholeList = closed({ ...fields, createdAt: Time, dynamicList: Type.Boolean() })

function show({ id, name, folder_id, subscribers }: ListRow): Static<typeof List> {
  return {
    id: Number(id),
    name,
    folderId: Number(folder_id ?? 0),
    uniqueSubscribers: subscribers,
    totalSubscribers: subscribers,
    totalBlacklisted: 0,
  }
}

export function showWhole(found: ListRow): Static<typeof WholeList> {
  return { ...show(found), createdAt: found.created_at.toISOString(), dynamicList: false }
}

export const listPage = closed({
  count: Type.Integer(),
  lists: Type.Array(List),
  next_cursor: orNull(Type.String()),
})

type Query = Static<ReturnType<typeof closed<typeof listQuery>>>

export async function pageOfLists(
  ctx: Ctx,
  query: Query,
  filter: ListFilter,
): Promise<Static<typeof listPage>> {
  const { accountId } = ctx.caller
  const list = { name: 'v3.lists', filter, usual: 10, most: 50 }
  const { rows, nextCursor } = await pageBySlice(ctx, query, list, (slice) =>
    listLists(ctx.db, accountId, filter, slice),
  )
  const { count } = await countLists(ctx.db, accountId, filter)
  return { count, lists: rows.map(show), next_cursor: nextCursor }
}
