import type { Db } from '../../../kernel/db.ts'
import { bool, bytes, int, json, maybe, row } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { contactOf } from '../../contacts/contacts/address-queries.ts'
import type { Allowed } from '../../contacts/contacts/tracking-consent.ts'

const Key = row<{ id: number; key: Buffer }>({ id: int, key: bytes })

export async function ensureTrackingKeys(db: Db, first: Buffer) {
  await db.run(sql`insert into tracking_keys (id, key) values (1, ${first}) on conflict do nothing`)
  return db.many(Key, sql`select id, key from tracking_keys order by id`)
}

const AllowedRow = row<Allowed>({
  settings: json(),
  tracking_consent: maybe(bool),
})

/** What the account and the person say about opens now, which may be long after the message was made. */
export function findAllowed(db: Db, { account_id: accountId, recipient }: Recipient) {
  return db.maybe(
    AllowedRow,
    sql`
    select a.settings,
           (select c.tracking_consent
              from contacts c
             where c.account_id = a.id and c.id = ${contactOf({ accountId, email: recipient })}) as tracking_consent
      from accounts a
     where a.id = ${accountId}`,
  )
}

const Count = row<{ count: number }>({ count: int })

type Recipient = { account_id: string; recipient: string }
type Clicked = { accountId: string; messageId: string }
export type Click = Clicked & { url: string }

/** The clicks of a message take turns until the transaction ends. */
export function holdMessage(db: Db, { accountId, messageId }: Clicked) {
  return db.run(sql`
    select 1 from messages where account_id = ${accountId} and id = ${messageId} for no key update`)
}

/** Those that were taken for a person's are a machine's, and counted so. */
export function markBurst(db: Db, { accountId, messageId }: Clicked, since: Date) {
  return db.run(sql`select mark_burst(${accountId}::bigint, ${messageId}::uuid, ${since}::timestamptz)`)
}

/** Other links of the message that were clicked since then. */
export function countOtherLinks(db: Db, { accountId, messageId, url }: Click, since: Date) {
  return db.one(
    Count,
    sql`
    select count(distinct data ->> 'url')::int as count
      from message_events
     where account_id = ${accountId}
       and message_id = ${messageId}
       and type = 'click'
       and at >= ${since}
       and data ->> 'url' <> ${url}`,
  )
}
