// What an unsubscribe link carries. It has to work for as long as the mail is kept, also when the contact is gone.
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { normalEmail } from '../../../kernel/email-address.ts'

/** Newest first: that one signs, all are read. */
export type UnsubscribeKeys = readonly Buffer[]

/** Gives the keys at their first need, because a secret may be made then. */
export type FindUnsubscribeKeys = () => Promise<UnsubscribeKeys>

/** Whose mail is refused, by whom, and from which message that was learnt. Without a list: all mail. */
export type UnsubscribeToken = { accountId: string; email: string; listId?: string; messageId?: string }

// After the prefix: one byte of what follows, the account, the list, the 16 of the message, the address, the code.
const prefix = 'v1.'
const withList = 1
const withMessage = 2
const idBytes = 16
const codeBytes = 16
const longestToken = 500
const greatestId = 2n ** 63n - 1n

/** Keys of this purpose alone, so that nothing signed or sealed elsewhere can pass for a token. */
export function unsubscribeKeysOf(secrets: readonly Buffer[]): UnsubscribeKeys {
  return secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, '', 'posthorn unsubscribe', 32)))
}

export function writeUnsubscribeToken(keys: UnsubscribeKeys, token: UnsubscribeToken): string {
  const [key] = keys
  const email = normalEmail(token.email)
  if (!key) throw new Error('there is no key for unsubscribe links')
  if (email === undefined) throw new TypeError('An unsubscribe link needs an email address')
  const { accountId, listId, messageId } = token
  const kind = (listId === undefined ? 0 : withList) | (messageId === undefined ? 0 : withMessage)
  const body = Buffer.concat([
    Buffer.from([kind]),
    numberBytes(accountId),
    listId === undefined ? nothing : numberBytes(listId),
    messageId === undefined ? nothing : uuidBytes(messageId),
    Buffer.from(email),
  ])
  return prefix + Buffer.concat([body, codeOf(key, body)]).toString('base64url')
}

/** Nothing for a token that is not ours, whatever is wrong with it. */
export function readUnsubscribeToken(keys: UnsubscribeKeys, token: string): UnsubscribeToken | undefined {
  const bytes = decoded(token)
  if (!bytes) return undefined
  const [body, code] = [bytes.subarray(0, -codeBytes), bytes.subarray(-codeBytes)]
  const isOurs = keys.some((key) => timingSafeEqual(codeOf(key, body), code))
  return isOurs ? opened(body) : undefined
}

// Only reached by what we signed ourselves, so its form needs no doubting.
function opened(body: Buffer): UnsubscribeToken {
  const kind = body.readUInt8(0)
  const account = readNumber(body, 1)
  const list = kind & withList ? readNumber(body, account.end) : undefined
  const listEnd = list?.end ?? account.end
  const end = kind & withMessage ? listEnd + idBytes : listEnd
  return {
    accountId: account.value,
    email: body.subarray(end).toString(),
    ...(list && { listId: list.value }),
    ...(kind & withMessage && { messageId: uuidOf(body.subarray(listEnd, end)) }),
  }
}

const nothing = Buffer.alloc(0)

function codeOf(key: Buffer, body: Buffer): Buffer {
  return createHmac('sha256', key).update(prefix).update(body).digest().subarray(0, codeBytes)
}

// Only the one spelling that encoding gives is taken: otherwise one token would have many forms.
function decoded(token: string): Buffer | undefined {
  if (token.length > longestToken || !token.startsWith(prefix)) return undefined
  const text = token.slice(prefix.length)
  const bytes = Buffer.from(text, 'base64url')
  return bytes.length > codeBytes && bytes.toString('base64url') === text ? bytes : undefined
}

/** Seven bits to a byte, the lowest first; the top bit says that more follow. */
function numberBytes(id: string): Buffer {
  if (!/^\d{1,19}$/.test(id) || BigInt(id) > greatestId) throw new TypeError('An identifier must be a number')
  const bytes: number[] = []
  let rest = BigInt(id)
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  return Buffer.from([...bytes, Number(rest)])
}

function readNumber(body: Buffer, start: number): { value: string; end: number } {
  let [value, at] = [0n, start]
  for (let more = true; more; at++) {
    const byte = body.readUInt8(at)
    value |= BigInt(byte & 127) << BigInt(7 * (at - start))
    more = byte > 127
  }
  return { value: String(value), end: at }
}

function uuidBytes(uuid: string): Buffer {
  if (!/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(uuid))
    throw new TypeError('A message id must be a UUID')
  return Buffer.from(uuid.replaceAll('-', ''), 'hex')
}

function uuidOf(bytes: Buffer): string {
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
