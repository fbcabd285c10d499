// What the link in a confirmation message carries: which subscription it confirms.
import {
  numberBytes,
  openToken,
  readNumber,
  signToken,
  type TokenKeys,
  tokenKeysOf,
  uuidBytes,
  uuidOf,
} from '../../../kernel/signed-token.ts'

/** Gives the keys at their first need, because a secret may be made then. */
export type FindOptinKeys = () => Promise<TokenKeys>

export type OptinToken = { accountId: string; id: string }

export const optinKeysOf = (secrets: readonly Buffer[]) => tokenKeysOf(secrets, 'posthorn double opt-in')

export function writeOptinToken(keys: TokenKeys, { accountId, id }: OptinToken): string {
  return signToken(keys, Buffer.concat([numberBytes(accountId), uuidBytes(id)]))
}

export function readOptinToken(keys: TokenKeys, token: string): OptinToken | undefined {
  const body = openToken(keys, token)
  if (!body) return undefined
  const { value, end } = readNumber(body, 0)
  return { accountId: value, id: uuidOf(body.subarray(end)) }
}
