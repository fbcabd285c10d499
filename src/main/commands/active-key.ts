import { hashKey } from '../../features/accounts/keys/find-caller.ts'
import { findActiveKeys, type ListedKey } from '../../features/accounts/keys/queries.ts'
import type { Db } from '../../kernel/db.ts'
import { readId } from '../../kernel/id.ts'
import { CommandFault } from './print.ts'

/** The one that is meant; a whole key is not shown again. */
export async function activeKey(db: Db, named: string): Promise<ListedKey> {
  const prefix = named.replace(/…$/, '')
  const shown = JSON.stringify(named.length > 40 ? `${named.slice(0, 13)}…` : named)
  const found = await findActiveKeys(db, { id: readId('key', named), prefix, hash: hashKey(named.trim()) })
  const [key, other] = found
  if (!key) throw new CommandFault(`there is no active key ${shown}; see: posthorn key list`)
  if (other) throw new CommandFault(`${found.length} keys begin with ${shown}; give the id instead`)
  return key
}
