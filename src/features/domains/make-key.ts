import { generateKeyPair, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import type { NewKey } from './key-queries.ts'
import type { KeyStage, OwnKey } from './model.ts'
import type { DomainRef } from './queries.ts'
import { type SecretKeys, sealDkimKey } from './seal-key.ts'

const bits = 2048

/** Every account has its own selectors, so that two that use one domain do not meet. */
export async function makeKey(secretKeys: SecretKeys, ref: DomainRef, stage: KeyStage): Promise<NewKey> {
  const selector = `ph${randomBytes(5).toString('hex')}`
  const pair = await promisify(generateKeyPair)('rsa', { modulusLength: bits })
  const sealed = await sealDkimKey(secretKeys, { ...ref, selector }, pair.privateKey)
  const publicKey = pair.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
  return { selector, publicKey, sealed, stage }
}

/** As it is once stored. */
export function asOwn({ selector, publicKey, stage }: NewKey): OwnKey {
  return { selector, publicKey, stage, signs: false, retiredAt: null }
}

/** What only the account that declared the domain was given. */
export function makeToken(): string {
  return `posthorn-verification=${randomBytes(20).toString('hex')}`
}
