// Where messages to others name a person: beside other recipients, as their sender, as who gets the answers.
import type { Db } from '../../kernel/db.ts'
import { maybe, row, text, texts } from '../../kernel/row.ts'
import { type Sql, sql, when } from '../../kernel/sql.ts'
import { isAbout } from './erase-queries.ts'
import type { Person } from './person.ts'

const nobody = 'erased@erased.invalid'
const theirs = '"email":"erased@erased\\.invalid"'
const aName = '"name":"(?:[^"\\\\]|\\\\.)*"'
const besideName = `(?:${aName},)?${theirs}(?:,${aName})?`
const answersTo = `,"replyTo":\\[\\{${theirs}\\}\\]`

const withoutAddress = (written: Sql, { pattern }: Person) =>
  sql`regexp_replace(${written}, ${pattern}, ${nobody}, 'gi')`

/** Of the parts of a message, as text: without the name beside the address; answers go to the sender. */
const withoutPerson = (written: Sql, who: Person) => sql`
  regexp_replace(regexp_replace(${withoutAddress(written, who)}, ${besideName}, ${`"email":"${nobody}"`}, 'g'),
                 ${answersTo}, '', 'g')`

const Page = row<{ last: string | null; ids: string[] }>({ last: maybe(text), ids: texts })

/**
 * Of the next so many messages those that name the person; `last` is where to go on, null at the end. A campaign has
 * its sender itself. What waits to leave in the person's name is left as it is.
 */
export function findMentions(db: Db, who: Person, page: { after: string | undefined; limit: number }) {
  const { accountId, emails } = who
  const isSender = sql`lower(p.sender) = any(${emails}::text[])`
  const parts = sql`
    (select b.parts::text from message_bodies b where b.account_id = ${accountId} and b.message_id = p.id)`
  return db.one(
    Page,
    sql`
    with page as materialized (
      select id, sender, recipient, status, metadata
        from messages
       where account_id = ${accountId}
         and campaign_id is null
         ${when(page.after, (after) => sql`and id > ${after}`)}
       order by id
       limit ${page.limit})
    select (select id from page order by id offset ${page.limit - 1}) as last,
           array(select p.id
                   from page p
                  where p.recipient <> all(${emails}::text[])
                    and case when ${isSender} then p.status not in ('queued', 'held')
                             else ${isAbout(sql`p.metadata::text`, who)} or ${isAbout(parts, who)} end) as ids`,
  )
}

type Mentions = { who: Person; ids: string[] }

export function eraseFromRows(db: Db, { who, ids }: Mentions) {
  const { accountId, emails } = who
  const isSender = sql`lower(sender) = any(${emails}::text[])`
  return db.run(sql`
    update messages
       set sender = case when ${isSender} then ${nobody} else sender end,
           sender_name = case when ${isSender} then null else sender_name end,
           metadata = ${withoutAddress(sql`metadata::text`, who)}::jsonb
     where account_id = ${accountId}
       and id = any(${ids}::uuid[])`)
}

export function eraseFromBodies(db: Db, { who, ids }: Mentions) {
  return db.run(sql`
    update message_bodies
       set parts = ${withoutPerson(sql`parts::text`, who)}::json
     where account_id = ${who.accountId}
       and message_id = any(${ids}::uuid[])
       and parts is not null`)
}

/** It holds the same again, and is only there to be looked at. */
export function dropCaptured(db: Db, { who, ids }: Mentions) {
  return db.run(sql`
    delete from captured_messages where account_id = ${who.accountId} and message_id = any(${ids}::uuid[])`)
}

// A name before an address in a header: quoted, or as it stands.
const nameInHeader = '(?:"[^"\\n]*" *|[^",:;<>\\n]*)<erased@erased\\.invalid>'

/** By the index of Message-IDs, which leaves out those that name their own row. */
const copiesOf = ({ accountId, emails }: Person) => sql`
  (select m.id
     from (select distinct message_id
             from messages
            where account_id = ${accountId} and recipient = any(${emails}::text[])) t
    cross join lateral (
          select id, recipient
            from messages
           where account_id = ${accountId} and message_id = t.message_id and not names_itself(id, message_id)
           union all
          select id, recipient
            from messages
           where account_id = ${accountId}
             and id = case when t.message_id ~ '^<[0-9a-f]{32}@' then substr(t.message_id, 2, 32)::uuid end
             and message_id = t.message_id) m
    where m.recipient <> all(${emails}::text[]))`

/** A mail that came whole through the relay names all its recipients in the copy of each. */
export async function eraseFromRelayed(db: Db, who: Person) {
  const escaped = withoutAddress(sql`encode(raw, 'escape')`, who)
  await db.run(sql`
    update message_bodies
       set raw = decode(regexp_replace(${escaped}, ${nameInHeader}, ${`<${nobody}>`}, 'g'), 'escape')
     where account_id = ${who.accountId}
       and message_id in ${copiesOf(who)}
       and raw is not null`)
  await db.run(sql`
    delete from captured_messages
     where account_id = ${who.accountId}
       and message_id in ${copiesOf(who)}
       and ${isAbout(sql`encode(raw, 'escape')`, who)}`)
}

export function eraseDefaultSender(db: Db, { accountId, emails }: Person) {
  return db.run(sql`
    update accounts
       set settings = settings - 'default_sender'
     where id = ${accountId}
       and lower(settings -> 'default_sender' ->> 'email') = any(${emails}::text[])`)
}
