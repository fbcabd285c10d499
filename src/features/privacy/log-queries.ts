import type { Db } from '../../kernel/db.ts'
import { json, maybe, row, text } from '../../kernel/row.ts'
import { sql, when } from '../../kernel/sql.ts'
import { isAbout } from './erase-queries.ts'
import type { Person } from './person.ts'

export type AboutRow = { id: string; at: string; operation: string; params: Record<string, unknown> }

const Lines = row<{ last: string | null; rows: AboutRow[] }>({ last: maybe(text), rows: json() })

const extIdPath = '$.** ? (@.ext_id == $id || @.extId == $id || @.EXT_ID == $id)'

type LinePage = { after: string | undefined; limit: number }

/** The customer's own identifier of the contact, wherever it stands as one. */
const namesExtId = (extId: string) => sql`
                or (strpos(l.params::text, to_json(${extId}::text)::text) > 0
                    and (jsonb_path_exists(l.params, ${extIdPath}, jsonb_build_object('id', ${extId}::text))
                         or (l.operation like 'contact.%' and l.params ->> 'identifierType' = 'ext_id'
                             and l.params ->> 'identifier' = ${extId})))`

/**
 * Of the next so many lines those that name the person, and some that only seem to: digits of a telephone number stand
 * in other numbers too. `last` is where to go on, null at the end.
 */
export function findLines(db: Db, who: Person, page: LinePage) {
  const { accountId, phones, contactId, extId } = who
  return db.one(
    Lines,
    sql`
    with page as materialized (
      select id, at, operation, params
        from audit_lines
       where account_id = ${accountId}
         ${when(page.after, (after) => sql`and id > ${after}`)}
       order by id
       limit ${page.limit})
    select (select id from page order by id offset ${page.limit - 1}) as last,
           (select coalesce(json_agg(jsonb_build_object('id', l.id, 'at', l.at, 'operation', l.operation,
                                                        'params', l.params) order by l.id), '[]')
              from page l
             where ${isAbout(sql`l.params::text`, who)}
                -- However it is written: +33 6 12 34 56 78 is the number 33612345678.
                or exists (select 1
                             from unnest(${phones}::text[]) as n (phone)
                            where strpos(translate(l.params::text, ' ().-', ''), n.phone) > 0)
                ${when(extId ?? undefined, namesExtId)}
                ${when(
                  contactId ?? undefined,
                  (id) => sql`
                or (l.operation like 'contact.%' and l.params ->> 'identifier' = ${id}
                    and l.params ->> 'identifierType' is distinct from 'ext_id')`,
                )}) as rows`,
  )
}

export function replaceLines(db: Db, accountId: string, lines: { id: string; params: string }[]) {
  return db.run(sql`
    update audit_lines l
       set params = n.params
      from unnest(${lines.map(({ id }) => id)}::uuid[], ${lines.map(({ params }) => params)}::jsonb[]) as n (id, params)
     where l.account_id = ${accountId}
       and l.id = n.id`)
}
