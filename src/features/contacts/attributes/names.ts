import type { Db } from '../../../kernel/db.ts'
import { listAttributes } from './queries.ts'

export async function attributeNames(db: Db, accountId: string): Promise<string[]> {
  return (await listAttributes(db, accountId)).map(({ name }) => name)
}
