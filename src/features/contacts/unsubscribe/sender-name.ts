// What an account is called on the pages behind its mail.
import type { Db } from '../../../kernel/db.ts'
import { publicName } from '../../accounts/account/public-name.ts'
import { readSettingsOf } from '../../accounts/settings/settings.ts'
import { findSenderOf } from './queries.ts'

type Named = { accountId: string; accountName: string; messageId?: string | undefined }

/** While nobody has named the account: whom the reader saw the message from, or whom it usually sends from. */
export async function senderName(
  db: Db,
  { accountId, accountName, messageId }: Named,
): Promise<string | undefined> {
  const chosen = publicName(accountName)
  if (chosen !== undefined) return chosen
  const sender = messageId === undefined ? undefined : await findSenderOf(db, { accountId, messageId })
  if (sender) return sender.name ?? sender.email
  const { default_sender } = await readSettingsOf(db, accountId)
  return default_sender?.name || default_sender?.email
}
