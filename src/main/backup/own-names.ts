// What Posthorn makes in a database, by the words of its migrations; everything else there is somebody else's.
import type pg from 'pg'
import { knownMigrations, type Migration } from '../migrate.ts'
import { type Applied, isInUse, listApplied, listForeign, type OwnNames } from './catalog-queries.ts'
import { BackupFault } from './format.ts'

/** A test holds it against what the migrations make. Views, types and sequences of their own they have none. */
export function namesMadeBy(migrations: Migration[]): OwnNames {
  const text = migrations.map((one) => one.text).join('\n')
  const made = (kind: string) => {
    const names = new Set<string>()
    for (const [, verb, name = ''] of text.matchAll(
      new RegExp(`^(create|drop)(?: or replace)? ${kind} (\\w+)`, 'gm'),
    ))
      names[verb === 'create' ? 'add' : 'delete'](name)
    return [...names]
  }
  return { tables: ['schema_migrations', ...made('table')], functions: made('function') }
}

export type Ground = {
  own: OwnNames
  /** There are accounts. */
  isInUse: boolean
  /** None where no migration was ever at work. */
  applied: Applied[] | undefined
  /** Such as `table orders`. */
  foreign: string[]
}

const mostShown = 5

export function inWords(foreign: string[]): string {
  const more = foreign.length - mostShown
  return foreign.slice(0, mostShown).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

/** What the database holds, ours and not ours. Of a newer version nobody here can tell which is which. */
export async function lookAround(client: pg.Client): Promise<Ground> {
  const applied = await listApplied(client)
  const known = await knownMigrations()
  const newer = applied?.find(({ name }) => !known.some((one) => one.name === name))
  if (newer)
    throw new BackupFault(
      `the database has ${newer.name}, which this version does not know: use a newer Posthorn, or an empty database`,
    )
  const own: OwnNames = applied
    ? namesMadeBy(known.filter(({ name }) => applied.some((one) => one.name === name)))
    : { tables: [], functions: [] }
  return {
    own,
    applied,
    isInUse: own.tables.includes('accounts') && (await isInUse(client)),
    foreign: await listForeign(client, own),
  }
}
