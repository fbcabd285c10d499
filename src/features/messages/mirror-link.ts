// The link to a message as a page, and to a campaign as one.
import { hkdfSync, timingSafeEqual } from 'node:crypto'
import { hmac } from '../../kernel/hmac.ts'
import type { UnsubscribeKeys } from '../contacts/unsubscribe/tokens.ts'

export type LinkNeeds = { keys: UnsubscribeKeys; baseUrl: string }

/** A message of a campaign or of none; without a message it is the page of the campaign, with nobody's data in it. */
export type Mirrored = { accountId: string } & (
  | { campaignId: string; messageId?: string }
  | { campaignId?: undefined; messageId: string }
)

export function mirrorUrl({ keys, baseUrl }: LinkNeeds, of: Mirrored): string {
  return `${baseUrl}/mirror/${writeMirrorToken(keys, of)}`
}

const codeBytes = 16
const none = '-'
const form = /^(\d{1,19}) (\d{1,19}|-)(?: ([\da-f-]{36}))?$/

function writeMirrorToken(
  keys: UnsubscribeKeys,
  { accountId, campaignId = none, messageId }: Mirrored,
): string {
  const [key] = keys
  if (!key) throw new Error('there is no key for links to a message')
  const body = Buffer.from([accountId, campaignId, messageId].filter((part) => part !== undefined).join(' '))
  return Buffer.concat([codeOf(key, body), body]).toString('base64url')
}

/** Nothing for a token that is not ours. */
export function readMirrorToken(keys: UnsubscribeKeys, token: string): Mirrored | undefined {
  const bytes = Buffer.from(token, 'base64url')
  const [code, body] = [bytes.subarray(0, codeBytes), bytes.subarray(codeBytes)]
  if (body.length === 0 || bytes.toString('base64url') !== token) return undefined
  if (!keys.some((key) => timingSafeEqual(codeOf(key, body), code))) return undefined
  const [, accountId, campaignId, messageId] = form.exec(body.toString()) ?? []
  if (accountId === undefined || campaignId === undefined) return undefined
  if (campaignId === none) return messageId === undefined ? undefined : { accountId, messageId }
  return { accountId, campaignId, ...(messageId && { messageId }) }
}

const mirrorKeys = new WeakMap<Buffer, Buffer>()

// A key of this purpose alone: an unsubscribe token cannot pass for a link to a message, nor the other way round.
function codeOf(key: Buffer, body: Buffer): Buffer {
  const own = mirrorKeys.get(key) ?? Buffer.from(hkdfSync('sha256', key, '', 'posthorn mirror', 32))
  mirrorKeys.set(key, own)
  return hmac(own, body).subarray(0, codeBytes)
}
