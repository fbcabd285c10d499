import { type Static, Type } from 'typebox'
import type { Ctx } from '../../../kernel/ctx.ts'
import { showId } from '../../../kernel/id.ts'
import { missingParameter, notFound } from '../../../kernel/refusals.ts'
import { closed } from '../../../kernel/schema.ts'
import { given, oneLine, optional } from '../../../kernel/v3/lenient.ts'
import { raiseNotice } from '../../accounts/notices/notices.ts'
import { holdFolder } from '../folders/queries.ts'
import { folderUnknown } from '../folders/read-folder.ts'
import {
  deleteList,
  deleteListCount,
  findList,
  insertList,
  type ListRow,
  pauseAutomationsOf,
  updateList,
} from './queries.ts'

export const ListBody = closed({
  name: Type.Optional(Type.String({ maxLength: 250 })),
  folderId: optional(
    Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: '0: in no folder' }),
  ),
})

export type ListBody = Static<typeof ListBody>

export const listUnknown = () => notFound({ message: 'List ID does not exist', param: 'listId' })

export async function readList(ctx: Ctx, id: number): Promise<ListRow> {
  const found = await findList(ctx.db, ctx.caller.accountId, id)
  if (!found) throw listUnknown()
  return found
}

export async function createList(ctx: Ctx, body: ListBody): Promise<number> {
  const name = given(oneLine(body.name ?? ''))
  if (name === undefined) throw missingParameter({ message: 'List name is missing', param: 'name' })
  const folderId = (await readFolderId(ctx, body.folderId)) ?? null
  return Number((await insertList(ctx.db, ctx.caller.accountId, { name, folderId }, ctx.now)).id)
}

export async function changeList(ctx: Ctx, id: number, body: ListBody): Promise<void> {
  const name = given(oneLine(body.name ?? ''))
  const folderId = await readFolderId(ctx, body.folderId)
  if (name === undefined && folderId === undefined) {
    throw missingParameter({ message: 'Either of name or folderId is required', param: 'name' })
  }
  if ((await updateList(ctx.db, ctx.caller.accountId, id, { name, folderId })) === 0) throw listUnknown()
}

/** undefined: nothing said; null: no folder. */
async function readFolderId(ctx: Ctx, folderId: number | null | undefined) {
  if (folderId === undefined || folderId === null) return undefined
  if (folderId === 0) return null
  if (!(await holdFolder(ctx.db, ctx.caller.accountId, folderId))) throw folderUnknown()
  return folderId
}

export async function removeList(ctx: Ctx, id: number): Promise<void> {
  const { accountId } = ctx.caller
  await pauseAutomations(ctx, id)
  if ((await deleteList(ctx.db, accountId, id)) === 0) throw listUnknown()
  // Only now: while its members go, they are still counted down.
  await deleteListCount(ctx.db, accountId, id)
}

/** Nobody would start them any more; the account is told. Before the list goes: others hold both in this order. */
async function pauseAutomations({ db, caller: { accountId }, now }: Ctx, listId: number): Promise<void> {
  for (const one of await pauseAutomationsOf(db, accountId, listId, now)) {
    const id = showId('aut', one.id)
    const message =
      `The automation ${id} (${one.name}) was paused: its list, ${listId}, was deleted. ` +
      'Give it another list_id and the status active, or delete it.'
    const details = { automation_id: id, list_id: listId, reason: 'list_deleted' }
    await raiseNotice(db, { accountId, code: 'automation_paused', subject: id, message, details }, now)
  }
}
