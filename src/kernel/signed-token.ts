// Tokens of links that people follow from their mail: a few facts and a code that only we can make.
import { hkdfSync, timingSafeEqual } from 'node:crypto'
import { hmac } from './hmac.ts'

/** Newest first: that one signs, all are read. */
export type TokenKeys = readonly Buffer[]

const prefix = 'v1.'
const prefixBytes = Buffer.from(prefix)
const codeBytes = 16
const longestToken = 500
const greatestId = 2n ** 63n - 1n

/** Keys of one purpose alone, so that nothing signed or sealed elsewhere can pass for a token of it. */
export function tokenKeysOf(secrets: readonly Buffer[], purpose: string): TokenKeys {
  return secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, '', purpose, 32)))
}

export function signToken(keys: TokenKeys, body: Buffer): string {
  const [key] = keys
  if (!key) throw new Error('there is no key to sign links with')
  return prefix + Buffer.concat([body, codeOf(key, body)]).toString('base64url')
}

/** Nothing for a token that is not ours, whatever is wrong with it. */
export function openToken(keys: TokenKeys, token: string): Buffer | undefined {
  const bytes = decoded(token)
  if (!bytes) return undefined
  const [body, code] = [bytes.subarray(0, -codeBytes), bytes.subarray(-codeBytes)]
  return keys.some((key) => timingSafeEqual(codeOf(key, body), code)) ? body : undefined
}

function codeOf(key: Buffer, body: Buffer): Buffer {
  return hmac(key, Buffer.concat([prefixBytes, body])).subarray(0, codeBytes)
}

// Only the one spelling that encoding gives is taken: otherwise one token would have many forms.
function decoded(token: string): Buffer | undefined {
  if (token.length > longestToken || !token.startsWith(prefix)) return undefined
  const text = token.slice(prefix.length)
  const bytes = Buffer.from(text, 'base64url')
  return bytes.length > codeBytes && bytes.toString('base64url') === text ? bytes : undefined
}

/** Seven bits to a byte, the lowest first; the top bit says that more follow. */
export function numberBytes(id: string): Buffer {
  if (!/^\d{1,19}$/.test(id) || BigInt(id) > greatestId) throw new TypeError('An identifier must be a number')
  const bytes: number[] = []
  let rest = BigInt(id)
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  return Buffer.from([...bytes, Number(rest)])
}

export function readNumber(body: Buffer, start: number): { value: string; end: number } {
  let [value, at] = [0n, start]
  for (let more = true; more; at++) {
    const byte = body.readUInt8(at)
    value |= BigInt(byte & 127) << BigInt(7 * (at - start))
    more = byte > 127
  }
  return { value: String(value), end: at }
}

export function uuidBytes(uuid: string): Buffer {
  if (!/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(uuid)) throw new TypeError('An id must be a UUID')
  return Buffer.from(uuid.replaceAll('-', ''), 'hex')
}

export function uuidOf(bytes: Buffer): string {
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
