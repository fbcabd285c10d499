import type { Ctx } from '../../../kernel/ctx.ts'
import { missingParameter, notFound } from '../../../kernel/refusals.ts'
import { given, oneLine } from '../../../kernel/v3/lenient.ts'
import { type FolderRow, findFolder } from './queries.ts'

export const folderUnknown = () => notFound({ message: 'Folder ID does not exist', param: 'folderId' })

export async function readFolder(ctx: Ctx, id: number): Promise<FolderRow> {
  const found = await findFolder(ctx.db, ctx.caller.accountId, id)
  if (!found) throw folderUnknown()
  return found
}

export function readFolderName(name: string | undefined): string {
  const read = given(oneLine(name ?? ''))
  if (read === undefined) throw missingParameter({ message: 'Folder name is missing', param: 'name' })
  return read
}
