// Databases to back up and to restore into, and what two of them have in common.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { type RestoreNeeds, restoreBackup } from '../../src/main/backup/restore-backup.ts'
import { writeBackup } from '../../src/main/backup/write-backup.ts'
import { makeEmptyDatabase, query } from '../processes/empty-database.ts'

export const folder = await mkdtemp(join(tmpdir(), 'posthorn-backup-'))
after(() => rm(folder, { recursive: true, force: true }))

export const dataFolder = (name: string) => join(folder, name)

const nothing = () => {}

export const backup = (
  url: string,
  dataDir: string,
  file = join(folder, `${randomBytes(4).toString('hex')}.gz`),
) =>
  writeBackup({
    url,
    config: { dataDir, secretKey: undefined },
    file,
    now: new Date(),
    progress: nothing,
  }).then((written) => ({ ...written, file }))

export const restore = (url: string, given: Partial<RestoreNeeds> & Pick<RestoreNeeds, 'file'>) =>
  restoreBackup({
    url,
    config: { dataDir: dataFolder('restored'), secretKey: undefined },
    force: false,
    pause: false,
    now: new Date(),
    progress: nothing,
    ...given,
  })

/** One whose user owns it and may nothing else, as on a managed server. */
export async function makeOwnedDatabase(): Promise<string> {
  const url = new URL(await makeEmptyDatabase())
  const role = `owner_${randomBytes(4).toString('hex')}`
  const admin = url.href
  await query(admin, `create role ${role} login password 'secret'`)
  await query(admin, `alter database ${url.pathname.slice(1)} owner to ${role}`)
  url.username = role
  url.password = 'secret'
  return url.href
}

/** Every table with its rows, every sequence, key, index and trigger, in few words. */
export async function portrait(url: string): Promise<Record<string, unknown>> {
  const ask = async (text: string) => (await query(url, text)).map((one) => Object.values(one).join(' '))
  const tables = await ask(
    `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`,
  )
  const rows: Record<string, unknown> = {}
  for (const table of tables)
    rows[table] = await ask(
      `select count(*), md5(coalesce(string_agg(md5(t::text), '' order by md5(t::text)), '')) from "${table}" t`,
    )
  return {
    ...rows,
    sequences: await ask(`select sequencename, coalesce(last_value, 0) from pg_sequences order by 1`),
    constraints: await ask(`
      select conrelid::regclass, conname, pg_get_constraintdef(oid), convalidated from pg_constraint
       where connamespace = 'public'::regnamespace order by 1, 2`),
    indexes: await ask(`select indexdef from pg_indexes where schemaname = 'public' order by 1`),
    triggers: await ask(
      `select tgrelid::regclass, tgname, tgenabled from pg_trigger where not tgisinternal order by 1, 2`,
    ),
    functions: await ask(
      `select oid::regprocedure, md5(prosrc) from pg_proc where pronamespace = 'public'::regnamespace order by 1`,
    ),
  }
}
