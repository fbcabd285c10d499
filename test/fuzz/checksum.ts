// All rows of one account, table by table, as one number each.
import pg from 'pg'

export type Checksums = Record<string, string>

const withAccount = `
  select c.table_name
    from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
   where c.table_schema = 'public' and c.column_name = 'account_id' and t.table_type = 'BASE TABLE'
   order by 1`

export async function checksumsOf(databaseUrl: string, accountId: string): Promise<Checksums> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows: tables } = await client.query(withAccount)
    const sums: Checksums = {}
    for (const { table_name: table } of tables) {
      const { rows } = await client.query(
        `select count(*) || ' rows ' || coalesce(md5(string_agg(md5(t::text), '' order by md5(t::text))), '') as sum
           from ${table} t where account_id = $1`,
        [accountId],
      )
      sums[table] = rows[0].sum
    }
    return sums
  } finally {
    await client.end()
  }
}
