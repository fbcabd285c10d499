import type { Db } from '../../kernel/db.ts'
import type { Address } from '../../kernel/email-address.ts'
import { bool, int, json, maybe, row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

export type UsedTemplate = {
  id: string
  subject: string
  html: string
  sender: Address
  reply_to: string | null
  to_field: string
  tag: string
  is_active: boolean
  attachment_url: string | null
}

const Used = row<UsedTemplate>({
  id: text,
  subject: text,
  html: text,
  sender: json(),
  reply_to: maybe(text),
  to_field: text,
  tag: text,
  is_active: bool,
  attachment_url: maybe(text),
})

export function findTemplate(db: Db, accountId: string, id: number) {
  return db.maybe(
    Used,
    sql`
    select id, subject, html, sender, reply_to, to_field, tag, is_active, attachment_url
      from templates
     where account_id = ${accountId}
       and id = ${id}`,
  )
}

const Named = row<{ place: number; attachment_url: string }>({ place: int, attachment_url: text })

/** The addresses of the files of each one's templates, once each. */
export async function findAttachmentUrls(db: Db, asked: { accountId: string; ids: number[] }[]) {
  const pairs = asked.flatMap(({ accountId, ids }, place) => ids.map((id) => ({ accountId, id, place })))
  const found = await db.many(
    Named,
    sql`
    select distinct g.place, t.attachment_url
      from unnest(${pairs.map(({ accountId }) => accountId)}::bigint[], ${pairs.map(({ id }) => id)}::bigint[],
                  ${pairs.map(({ place }) => place)}::int[]) as g (account_id, id, place)
      join templates t on t.account_id = g.account_id and t.id = g.id
     where t.attachment_url is not null`,
  )
  return asked.map((_, i) =>
    found.flatMap(({ place, attachment_url }) => (place === i ? attachment_url : [])),
  )
}
