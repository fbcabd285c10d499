// What the database says about itself, and what a restore does to its shape.
import pg from 'pg'

export type Table = { name: string; columns: string[] }
export type Sequence = { name: string; value: string; isCalled: boolean }
export type Applied = { name: string; checksum: string }

const quoted = pg.escapeIdentifier

/** A connection of its own: what it does takes as long as there is data. */
export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: ownName,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  })
  await client.connect()
  // Whoever has a statement or a COPY under way is told; this keeps the process from ending over it.
  client.on('error', () => {})
  return client
}

const ownName = 'posthorn-backup'

/** Nothing of the server's own settings cuts a long transaction short or changes how values are written. */
export async function settle(client: pg.Client): Promise<void> {
  await client.query(`
    set local statement_timeout = 0; set local lock_timeout = 0;
    set local idle_in_transaction_session_timeout = 0;
    set local client_encoding = 'UTF8'; set local datestyle = 'ISO'; set local intervalstyle = 'postgres';
    set local extra_float_digits = 1; set local timezone = 'UTC'; set local bytea_output = 'hex'`)
}

/** Generated columns are left out: they come by themselves. */
export async function listTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query(`
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
     group by c.relname order by c.relname`)
  return rows
}

export async function listSequences(client: pg.Client): Promise<Sequence[]> {
  const { rows } = await client.query(`
    select relname as name from pg_class
     where relnamespace = current_schema()::regnamespace and relkind = 'S' order by relname`)
  const found: Sequence[] = []
  for (const { name } of rows) {
    const { rows: states } = await client.query(`select last_value, is_called from ${quoted(name)}`)
    found.push({ name, value: states[0].last_value, isCalled: states[0].is_called })
  }
  return found
}

export async function setSequences(client: pg.Client, sequences: Sequence[]): Promise<void> {
  for (const { name, value, isCalled } of sequences)
    await client.query('select setval($1, $2, $3)', [quoted(name), value, isCalled])
}

export async function listApplied(client: pg.Client): Promise<Applied[]> {
  return (await client.query('select name, checksum from schema_migrations order by name')).rows
}

/** Against changes of their shape, not of their rows. */
export async function lockTables(client: pg.Client, tables: Table[]): Promise<void> {
  await client.query(`lock table ${tables.map(({ name }) => quoted(name)).join(', ')} in access share mode`)
}

export const copyOutOf = ({ name, columns }: Table) => `copy ${quoted(name)} (${listed(columns)}) to stdout`

export const copyInto = ({ name, columns }: Table) => `copy ${quoted(name)} (${listed(columns)}) from stdin`

const listed = (columns: string[]) => columns.map(quoted).join(', ')

/** `foreign`: there are tables, and they are not ours. */
export async function contentOf(client: pg.Client): Promise<'nothing' | 'data' | 'foreign'> {
  const tables = (await listTables(client)).map(({ name }) => name)
  if (tables.length === 0) return 'nothing'
  if (!tables.includes('schema_migrations')) return 'foreign'
  if (!tables.includes('accounts')) return 'nothing'
  const { rows } = await client.query('select exists (select from accounts) as is_used')
  return rows[0].is_used ? 'data' : 'nothing'
}

/** Connections of a service or of another command to this database. */
export async function countUsers(client: pg.Client): Promise<number> {
  const { rows } = await client.query(
    `select count(*)::int as n from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and application_name like 'posthorn%'
        and application_name <> $1`,
    [ownName],
  )
  return rows[0].n
}

/** Takes tables, functions and types away, but not those of extensions. */
export async function dropEverything(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`
    with ours as (select current_schema()::regnamespace as schema)
    select 'drop table if exists ' || oid::regclass || ' cascade' as act
      from pg_class, ours where relnamespace = schema and relkind in ('r', 'p')
       and not exists (select from pg_depend d where d.objid = pg_class.oid and d.deptype = 'e')
    union all
    select 'drop routine if exists ' || oid::regprocedure || ' cascade'
      from pg_proc, ours where pronamespace = schema
       and not exists (select from pg_depend d where d.objid = pg_proc.oid and d.deptype = 'e')
    union all
    select 'drop type if exists ' || oid::regtype || ' cascade'
      from pg_type, ours where typnamespace = schema and typtype in ('e', 'd')
       and not exists (select from pg_depend d where d.objid = pg_type.oid and d.deptype = 'e')`)
  for (const { act } of rows) await client.query(act)
}

/**
 * Empties the tables and lets rows in as they are and in any order: triggers would count again what is counted, and
 * foreign keys would ask for an order. Gives what puts both back, which then holds the rows against the keys.
 */
export async function openTables(client: pg.Client, tables: Table[]): Promise<() => Promise<void>> {
  const names = tables.map(({ name }) => quoted(name))
  const { rows: keys } = await client.query(`
    select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
      from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace order by oid`)
  for (const key of keys) await client.query(`alter table ${key.table} drop constraint ${quoted(key.name)}`)
  await client.query(`truncate ${names.join(', ')}`)
  for (const name of names) await client.query(`alter table ${name} disable trigger user`)
  return async () => {
    for (const name of names) await client.query(`alter table ${name} enable trigger user`)
    for (const { table, name, definition } of keys)
      await client.query(`alter table ${table} add constraint ${quoted(name)} ${definition}`)
  }
}
