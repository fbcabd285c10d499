// The keys of links in messages, each derived from the installation's secrets at its first need.
import { type FindUnsubscribeKeys, unsubscribeKeysOf } from '../features/contacts/unsubscribe/tokens.ts'
import { type FindOptinKeys, optinKeysOf } from '../features/transactional/double-optin/tokens.ts'
import type { TokenKeys } from '../kernel/signed-token.ts'
import type { Config } from './config.ts'
import { openSecretKeys } from './secret-key.ts'

/** Shared by the pages that read unsubscribe links and whatever writes them into messages. */
export const openUnsubscribeKeys = (config: SecretConfig): FindUnsubscribeKeys =>
  keysFrom(config, unsubscribeKeysOf)

export const openOptinKeys = (config: SecretConfig): FindOptinKeys => keysFrom(config, optinKeysOf)

type SecretConfig = Pick<Config, 'secretKey' | 'dataDir'>

function keysFrom(config: SecretConfig, derive: (secrets: Buffer[]) => TokenKeys): () => Promise<TokenKeys> {
  const secrets = openSecretKeys(config)
  let derived: TokenKeys | undefined
  return async () => {
    derived ??= derive(await secrets())
    return derived
  }
}
