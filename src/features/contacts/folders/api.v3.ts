import { type Static, Type } from 'typebox'
import { operation } from '../../../kernel/operation.ts'
import { notFound } from '../../../kernel/refusals.ts'
import { closed, orNull } from '../../../kernel/schema.ts'
import { listQuery, pageBySlice } from '../../../kernel/v3/paging.ts'
import { outOfRange } from '../../../kernel/v3/refusals.ts'
import { listPage, pageOfLists } from '../lists/show-list.ts'
import {
  countFolders,
  deleteFolder,
  type FolderRow,
  insertFolder,
  listFolders,
  renameFolder,
} from './queries.ts'
import { folderUnknown, readFolder, readFolderName } from './read-folder.ts'

const Folder = closed({
  id: Type.Integer(),
  name: Type.String(),
  uniqueSubscribers: Type.Integer(),
  totalSubscribers: Type.Integer(),
  totalBlacklisted: Type.Integer(),
})

function show({ id, name, subscribers, people }: FolderRow): Static<typeof Folder> {
  return {
    id: Number(id),
    name,
    uniqueSubscribers: Number(people),
    totalSubscribers: Number(subscribers),
    totalBlacklisted: 0,
  }
}

const shared = { area: 'Contacts' } as const
// What no identifier can be reaches no statement.
const params = closed({ id: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }) })
const body = closed({ name: Type.Optional(Type.String({ maxLength: 250 })) })

export const listFoldersV3 = operation({
  ...shared,
  name: 'folder.list',
  http: 'GET /v3/contacts/folders',
  summary: 'List folders, newest first',
  scope: 'contacts.read',
  effect: 'read',
  query: closed(listQuery),
  reply: closed({
    count: Type.Integer(),
    folders: Type.Array(Folder),
    next_cursor: orNull(Type.String()),
  }),
  refusals: [outOfRange],
}).run(async (ctx, { query }) => {
  const { accountId } = ctx.caller
  const list = { name: 'v3.folders', filter: {}, usual: 10, most: 50 }
  const { rows, nextCursor } = await pageBySlice(ctx, query, list, (slice) =>
    listFolders(ctx.db, accountId, slice),
  )
  const { count } = await countFolders(ctx.db, accountId)
  return { count, folders: rows.map(show), next_cursor: nextCursor }
})

export const createFolderV3 = operation({
  ...shared,
  name: 'folder.create',
  http: 'POST /v3/contacts/folders',
  needs: ['name'],
  summary: 'Create a folder for lists',
  scope: 'contacts.write',
  effect: 'change',
  body,
  status: 201,
  reply: closed({ id: Type.Integer() }),
}).run(async (ctx, { body: { name } }) => {
  const { id } = await insertFolder(ctx.db, ctx.caller.accountId, readFolderName(name), ctx.now)
  return { id: Number(id) }
})

export const getFolderV3 = operation({
  ...shared,
  name: 'folder.get',
  http: 'GET /v3/contacts/folders/{id}',
  summary: 'Read a folder',
  scope: 'contacts.read',
  effect: 'read',
  params,
  reply: Folder,
  refusals: [notFound],
}).run(async (ctx, { params: { id } }) => show(await readFolder(ctx, id)))

export const updateFolderV3 = operation({
  ...shared,
  name: 'folder.update',
  http: 'PUT /v3/contacts/folders/{id}',
  needs: ['name'],
  summary: 'Rename a folder',
  scope: 'contacts.write',
  effect: 'change',
  params,
  body,
  status: 204,
  reply: Type.Null(),
  refusals: [notFound],
}).run(async (ctx, { params: { id }, body: { name } }) => {
  const renamed = await renameFolder(ctx.db, ctx.caller.accountId, id, readFolderName(name))
  if (renamed === 0) throw folderUnknown()
  return null
})

export const deleteFolderV3 = operation({
  ...shared,
  name: 'folder.delete',
  http: 'DELETE /v3/contacts/folders/{id}',
  summary: 'Delete a folder; its lists stay, in no folder',
  scope: 'contacts.write',
  effect: 'irreversible',
  params,
  status: 204,
  reply: Type.Null(),
  refusals: [notFound],
}).run(async (ctx, { params: { id } }) => {
  if ((await deleteFolder(ctx.db, ctx.caller.accountId, id)) === 0) throw folderUnknown()
  return null
})

export const listFolderListsV3 = operation({
  ...shared,
  name: 'folder.lists',
  http: 'GET /v3/contacts/folders/{id}/lists',
  summary: 'List the lists of a folder, newest first',
  scope: 'contacts.read',
  effect: 'read',
  params,
  query: closed(listQuery),
  reply: listPage,
  refusals: [notFound, outOfRange],
}).run(async (ctx, { params: { id }, query }) => {
  const folder = await readFolder(ctx, id)
  return pageOfLists(ctx, query, { folderId: folder.id })
})
