// The links of a campaign that lead to this service: leaving, choosing lists, and the message as a page.
import { hkdfSync, timingSafeEqual } from 'node:crypto'
import { hmac } from '../../kernel/hmac.ts'
import { type UnsubscribeKeys, writeUnsubscribeToken } from '../contacts/unsubscribe/tokens.ts'

export type Links = { unsubscribe: string; preferences: string; mirror: string }

export type LinkNeeds = { keys: UnsubscribeKeys; baseUrl: string }

type Of = { accountId: string; campaignId: string; email: string; messageId: string }

/** For one recipient of a real send; without the page where nothing leads to it. */
export function campaignLinks({ keys, baseUrl }: LinkNeeds, of: Of, readsMirror = true): Links {
  const { accountId, email, messageId } = of
  const token = writeUnsubscribeToken(keys, { accountId, email, messageId })
  return {
    unsubscribe: `${baseUrl}/u/${token}`,
    preferences: `${baseUrl}/preferences/${token}`,
    mirror: readsMirror ? mirrorUrl({ keys, baseUrl }, of) : '',
  }
}

/** Stands where the token of a recipient would. */
export const testToken = 'test'

/** For nobody: a test or a preview must not take its reader off anything. */
export function sharedLinks(needs: LinkNeeds, of: Pick<Of, 'accountId' | 'campaignId'>): Links {
  const { baseUrl } = needs
  return {
    unsubscribe: `${baseUrl}/u/${testToken}`,
    preferences: `${baseUrl}/preferences/${testToken}`,
    mirror: mirrorUrl(needs, of),
  }
}

/** Without a message it is the page of the campaign, with nobody's data in it. */
export type Mirrored = { accountId: string; campaignId: string; messageId?: string }

export function mirrorUrl({ keys, baseUrl }: LinkNeeds, of: Mirrored): string {
  return `${baseUrl}/mirror/${writeMirrorToken(keys, of)}`
}

const codeBytes = 16
const form = /^(\d{1,19}) (\d{1,19})(?: ([\da-f-]{36}))?$/

function writeMirrorToken(keys: UnsubscribeKeys, { accountId, campaignId, messageId }: Mirrored): string {
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
  return { accountId, campaignId, ...(messageId && { messageId }) }
}

const mirrorKeys = new WeakMap<Buffer, Buffer>()

// A key of this purpose alone: an unsubscribe token cannot pass for a link to a message, nor the other way round.
function codeOf(key: Buffer, body: Buffer): Buffer {
  const own = mirrorKeys.get(key) ?? Buffer.from(hkdfSync('sha256', key, '', 'posthorn mirror', 32))
  mirrorKeys.set(key, own)
  return hmac(own, body).subarray(0, codeBytes)
}
