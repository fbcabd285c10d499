// What the database says about itself, and what a restore does to its shape.
import pg from 'pg'
import { patience } from '../../kernel/server-settings.ts'
import { connectAlone } from '../connect-alone.ts'

export type Table = { name: string; columns: string[] }
export type Sequence = { name: string; value: string; isCalled: boolean }
export type Applied = { name: string; checksum: string }
/** What Posthorn has made. */
export type OwnNames = { tables: string[]; functions: string[] }

const quoted = pg.escapeIdentifier

/** A connection of its own: what it does takes as long as there is data. */
export const connect = (url: string): Promise<pg.Client> =>
  connectAlone(url, patience, { application_name: ownName, keepAlive: true })

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
export async function listTables(client: pg.Client, { tables }: OwnNames): Promise<Table[]> {
  const { rows } = await client.query(
    `select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
       from pg_class c
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relname = any($1)
      group by c.relname order by c.relname`,
    [tables],
  )
  return rows
}

export async function listSequences(client: pg.Client, { tables }: OwnNames): Promise<Sequence[]> {
  const { rows } = await client.query(
    `select s.relname as name
       from pg_class s
       join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = s.oid and d.deptype in ('a', 'i')
       join pg_class t on t.oid = d.refobjid and d.refclassid = 'pg_class'::regclass
      where s.relnamespace = current_schema()::regnamespace and s.relkind = 'S' and t.relname = any($1)
      order by s.relname`,
    [tables],
  )
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

/** None where there is no table of them, or one of another make under the same name. */
export async function listApplied(client: pg.Client): Promise<Applied[] | undefined> {
  const { rows } = await client.query(`
    select from pg_attribute a join pg_class c on c.oid = a.attrelid
     where c.relnamespace = current_schema()::regnamespace and c.relname = 'schema_migrations'
       and a.attname in ('name', 'checksum')`)
  if (rows.length < 2) return undefined
  return (await client.query('select name, checksum from schema_migrations order by name')).rows
}

export async function isInUse(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query('select exists (select from accounts) as is_used')
  return rows[0].is_used
}

/** In words. What belongs to an extension, or comes and goes with something else, is not listed. */
export async function listForeign(client: pg.Client, own: OwnNames): Promise<string[]> {
  const { rows } = await client.query(
    `with here as (select current_schema()::regnamespace as schema), found as (
       select 'pg_class'::regclass as class, oid, relkind = 'S' as is_sequence, relname::text as name,
              case relkind when 'v' then 'view' when 'm' then 'view' when 'S' then 'sequence' when 'c' then 'type'
                else 'table' end as kind
         from pg_class, here
        where relnamespace = schema and relkind in ('r', 'p', 'f', 'v', 'm', 'S', 'c') and relname <> all($1)
       union all
       select 'pg_proc'::regclass, oid, false, oid::regprocedure::text, 'function'
         from pg_proc, here where pronamespace = schema and proname <> all($2)
       union all
       select 'pg_type'::regclass, oid, false, typname::text, 'type'
         from pg_type, here where typnamespace = schema and typtype in ('e', 'd', 'r'))
     select kind || ' ' || name as what from found
      where not exists (
        select from pg_depend d where d.classid = found.class and d.objid = found.oid
           and (d.deptype in ('e', 'i') or (d.deptype = 'a' and found.is_sequence)))
      order by kind = 'table' desc, kind, name`,
    [own.tables, own.functions],
  )
  return rows.map(({ what }) => what)
}

/** Against changes of their shape, not of their rows. */
export async function lockTables(client: pg.Client, tables: Table[]): Promise<void> {
  await client.query(`lock table ${tables.map(({ name }) => quoted(name)).join(', ')} in access share mode`)
}

export const copyOutOf = ({ name, columns }: Table) => `copy ${quoted(name)} (${listed(columns)}) to stdout`

export const copyInto = ({ name, columns }: Table) => `copy ${quoted(name)} (${listed(columns)}) from stdin`

const listed = (columns: string[]) => columns.map(quoted).join(', ')

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

/** Fails, rather than take anything with it that is not ours. */
export async function dropOwn(client: pg.Client, own: OwnNames): Promise<void> {
  const names = (await listTables(client, own)).map(({ name }) => quoted(name))
  if (names.length > 0) await client.query(`drop table ${names.join(', ')}`)
  const { rows } = await client.query(
    `select oid::regprocedure::text as name from pg_proc
      where pronamespace = current_schema()::regnamespace and proname = any($1)`,
    [own.functions],
  )
  if (rows.length > 0) await client.query(`drop routine ${rows.map(({ name }) => name).join(', ')}`)
}

/**
 * Empties the tables and lets rows in as they are and in any order: triggers would count again what is counted, and
 * foreign keys would ask for an order. Gives what puts both back, which then holds the rows against the keys.
 */
export async function openTables(client: pg.Client, tables: Table[]): Promise<() => Promise<void>> {
  const names = tables.map(({ name }) => quoted(name))
  const { rows: keys } = await client.query(
    `select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(k.oid) as definition
       from pg_constraint k join pg_class c on c.oid = k.conrelid
      where contype = 'f' and connamespace = current_schema()::regnamespace and c.relname = any($1)
      order by k.oid`,
    [tables.map(({ name }) => name)],
  )
  for (const key of keys) await client.query(`alter table ${key.table} drop constraint ${quoted(key.name)}`)
  await client.query(`truncate ${names.join(', ')}`)
  for (const name of names) await client.query(`alter table ${name} disable trigger user`)
  return async () => {
    for (const name of names) await client.query(`alter table ${name} enable trigger user`)
    for (const { table, name, definition } of keys)
      await client.query(`alter table ${table} add constraint ${quoted(name)} ${definition}`)
  }
}

/** Tells, once it is committed, that this restore has happened. */
export async function markRestored(client: pg.Client, id: string): Promise<void> {
  await client.query(`comment on table schema_migrations is ${pg.escapeLiteral(`restored ${id}`)}`)
}

export async function isRestored(client: pg.Client, id: string): Promise<boolean> {
  const { rows } = await client.query(
    `select from pg_class where relnamespace = current_schema()::regnamespace
        and relname = 'schema_migrations' and obj_description(oid, 'pg_class') = $1`,
    [`restored ${id}`],
  )
  return rows.length > 0
}
