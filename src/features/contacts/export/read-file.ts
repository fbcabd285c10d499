import type { Db } from '../../../kernel/db.ts'
import { type ExportFile, findFile, readPage } from './queries.ts'

/** How long the file of an export can be fetched; then it is deleted. */
export const fileKeptMs = 7 * 86_400_000

export const exportUrl = (baseUrl: string, fileToken: string) => `${baseUrl}/exports/${fileToken}`

export function findExportFile(db: Db, token: string, now: Date): Promise<ExportFile | undefined> {
  const isToken = /^[\w-]{43}$/.test(token)
  return isToken ? findFile(db, token, new Date(now.getTime() - fileKeptMs)) : Promise.resolve(undefined)
}

/** Page by page, as the reader takes them. A file that is deleted meanwhile breaks off instead of seeming whole. */
export async function* pagesOf(db: Db, file: ExportFile): AsyncGenerator<string> {
  for (let number = 0; number < file.pages; number++) {
    const page = await readPage(db, file, number)
    if (!page) throw new Error('the file of an export is gone')
    yield page.csv
  }
}
