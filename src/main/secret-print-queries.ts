import type pg from 'pg'
import type { Db } from '../kernel/db.ts'
import { bool, int, row } from '../kernel/row.ts'
import { compile, sql } from '../kernel/sql.ts'

const Found = row<{ known: boolean }>({ known: bool })

/** Adds the newest where the database knows none yet or one of the others: that is how a key is replaced. */
export function knowsPrints(db: Db, prints: string[]) {
  return db.transaction(async (tx) => {
    // Two that start at once must not both be the first.
    await tx.run(sql`
      -- all accounts: the keys are the installation's
      lock table secret_key_prints in share row exclusive mode`)
    await tx.run(sql`
      -- all accounts: the keys are the installation's
      insert into secret_key_prints (print, seen_at)
      select ${prints[0] ?? ''}, clock_timestamp()
       where not exists (select 1 from secret_key_prints where print <> all(${prints}::text[]))
          or exists (select 1 from secret_key_prints where print = any(${prints}::text[]))
      on conflict do nothing`)
    return tx.one(
      Found,
      sql`
      -- all accounts: the keys are the installation's
      select exists (select 1 from secret_key_prints where print = any(${prints}::text[])) as known`,
    )
  })
}

/** Those that the database has seen; none before its first start. */
export async function listPrints(client: pg.Client): Promise<string[]> {
  const { rows: found } = await client.query(
    `select to_regclass('secret_key_prints') is not null as is_there`,
  )
  if (!found[0].is_there) return []
  // all accounts: the keys are the installation's
  const { rows } = await client.query('select print from secret_key_prints')
  return rows.map(({ print }) => print)
}

export type Unopened = { dkim_keys: number; webhooks: number; mailboxes: number }
const Counted = row<Unopened>({ dkim_keys: int, webhooks: int, mailboxes: int })

const unopened = (keyIds: Buffer[]) => sql`
  -- all accounts: the keys are the installation's
  select (select count(*)::int from dkim_keys
           where substring(private_key from 2 for 4) <> all(${keyIds}::bytea[])) as dkim_keys,
         (select count(*)::int from webhooks
           where substring(sealed from 2 for 4) <> all(${keyIds}::bytea[])) as webhooks,
         (select count(*)::int from outreach_mailboxes
           where substring(sealed from 2 for 4) <> all(${keyIds}::bytea[])) as mailboxes`

/** What was sealed with none of these keys, by whose it is. */
export const countUnopened = (db: Db, keyIds: Buffer[]) => db.one(Counted, unopened(keyIds))

/** The same for whoever has no pool. */
export async function findUnopened(client: pg.Client, keyIds: Buffer[]): Promise<Unopened> {
  const { rows } = await client.query(compile(unopened(keyIds)))
  return rows[0]
}
