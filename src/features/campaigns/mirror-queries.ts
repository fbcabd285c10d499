import type { Db } from '../../kernel/db.ts'
import { maybe, row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

/** A message of a campaign. */
export type MirroredRef = { accountId: string; campaignId: string; messageId: string }

const Message = row<{ recipient: string; variant: string | null }>({ recipient: text, variant: maybe(text) })

export function findMirrored(db: Db, { accountId, campaignId, messageId }: MirroredRef) {
  return db.maybe(
    Message,
    sql`
    select recipient, variant
      from messages
     where account_id = ${accountId}
       and campaign_id = ${campaignId}
       and id = ${messageId}`,
  )
}
