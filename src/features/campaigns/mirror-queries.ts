import type { Db } from '../../kernel/db.ts'
import { maybe, row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import type { Mirrored } from './links.ts'

const Message = row<{ recipient: string; variant: string | null }>({ recipient: text, variant: maybe(text) })

export function findMirrored(db: Db, { accountId, campaignId, messageId }: Required<Mirrored>) {
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
