import type { Command } from 'commander'
import { type KeyBounds, updateKey } from '../../features/accounts/keys/queries.ts'
import { showId } from '../../kernel/id.ts'
import type { Scope } from '../../kernel/scope.ts'
import { activeKey } from './active-key.ts'
import { CommandFault, type Output, say, sayJson } from './print.ts'
import {
  none,
  type OrNone,
  orNone,
  readCount,
  readDomains,
  readExpiry,
  readKeyName,
  readScopes,
} from './read-options.ts'
import { withDatabase } from './with-database.ts'

export function addKeyChange(key: Command): void {
  key
    .command('change <key>')
    .description('change a key, named as for revoke; what is not given stays')
    .option('--name <name>', 'what to call it', readKeyName)
    .option('--scope <scopes>', 'what it may do, or all', orNone(readScopes, 'all'))
    .option('--daily-cap <n>', 'messages per day (UTC), or none', orNone(readCount))
    .option('--sender-domain <domains>', 'domains it may send from, or none for any', orNone(readDomains))
    .option('--expires <time>', 'ISO 8601 time at which it stops working, or none', orNone(readExpiry))
    .option('--json', 'print the result as JSON')
    .addHelpText('after', '\nExample:\n  posthorn key change phk_live_Ab3d --daily-cap 10000 --expires none')
    .action(changeKey)
}

type Options = Output & {
  name?: string
  scope?: OrNone<Scope[]>
  dailyCap?: OrNone<number>
  senderDomain?: OrNone<string[]>
  expires?: OrNone<Date>
}

async function changeKey(named: string, { json, ...options }: Options): Promise<void> {
  if (Object.keys(options).length === 0)
    throw new CommandFault('there is nothing to change; see: posthorn key change --help', 2)
  const changed = await withDatabase((db) =>
    db.transaction(async (tx) => {
      const key = await activeKey(tx, named)
      const to = boundsOf(key, options)
      await updateKey(tx, key.id, to)
      return { id: showId('key', key.id), account: key.account_id, ...to }
    }),
  )
  if (json) sayJson(changed)
  else say(`Changed ${changed.id}. It holds within a few seconds.`)
}

function boundsOf(key: KeyBounds, given: Omit<Options, 'json'>): KeyBounds {
  const or = <T>(one: OrNone<T> | undefined, before: T | null) =>
    one === none ? null : one === undefined ? before : one
  return {
    name: given.name ?? key.name,
    scopes: or<string[] | null>(given.scope, key.scopes),
    daily_cap: or(given.dailyCap, key.daily_cap),
    sender_domains: or(given.senderDomain, key.sender_domains),
    expires_at: or(given.expires, key.expires_at),
  }
}
