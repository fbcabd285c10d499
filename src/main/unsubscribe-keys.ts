import { type FindUnsubscribeKeys, unsubscribeKeysOf } from '../features/contacts/unsubscribe/tokens.ts'
import type { Config } from './config.ts'
import { openSecretKeys } from './secret-key.ts'

/** Shared by the pages that read unsubscribe links and whatever writes them into messages. */
export function openUnsubscribeKeys(config: Pick<Config, 'secretKey' | 'dataDir'>): FindUnsubscribeKeys {
  const secrets = openSecretKeys(config)
  let derived: ReturnType<typeof unsubscribeKeysOf> | undefined
  return async () => {
    derived ??= unsubscribeKeysOf(await secrets())
    return derived
  }
}
