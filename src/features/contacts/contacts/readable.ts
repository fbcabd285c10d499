import type { Db } from '../../../kernel/db.ts'
import { readerOf } from '../attributes/calculate.ts'
import type { ContactRow } from './row-queries.ts'

type At = { accountId: string; now: Date }

/** What templates read of a contact besides its address: attributes, those that are calculated, and the number. */
export async function readableOf(
  db: Db,
  { accountId, now }: At,
  { attributes, sms }: Pick<ContactRow, 'attributes' | 'sms'>,
): Promise<Record<string, unknown>> {
  const read = await readerOf(db, accountId, now)
  return { ...read(attributes), SMS: sms ?? undefined }
}
