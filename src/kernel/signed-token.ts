// Tokens of links that people follow from their mail: a few facts and a code that only we can make.
import { createCipheriv, hkdfSync, timingSafeEqual } from 'node:crypto'
import { hmac } from './hmac.ts'

/** Newest first: that one signs, all are read. */
export type TokenKeys = readonly Buffer[]

// Signed: the body can be read by everybody. Sealed: by nobody else.
const signed = 'v1.'
const sealed = 'v2.'
const prefixBytes = { [signed]: Buffer.from(signed), [sealed]: Buffer.from(sealed) }
const codeBytes = 16
const longestToken = 500
const greatestId = 2n ** 63n - 1n

/** Keys of one purpose alone, so that nothing signed or sealed elsewhere can pass for a token of it. */
export function tokenKeysOf(secrets: readonly Buffer[], purpose: string): TokenKeys {
  return secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, '', purpose, 32)))
}

export function signToken(keys: TokenKeys, body: Buffer): string {
  const key = newest(keys)
  return signed + Buffer.concat([body, codeOf(key, signed, body)]).toString('base64url')
}

/**
 * The same body always gives the same token: its code, which a body has alone, is what its encryption begins with, as
 * in RFC 5297.
 */
export function sealToken(keys: TokenKeys, body: Buffer): string {
  const key = newest(keys)
  const code = codeOf(key, sealed, body)
  return sealed + Buffer.concat([code, encrypted(key, code, body)]).toString('base64url')
}

/** Nothing for a token that is not ours, whatever is wrong with it. Mail that is out has signed ones. */
export function openToken(keys: TokenKeys, token: string): Buffer | undefined {
  const form = token.startsWith(sealed) ? sealed : signed
  const bytes = decoded(token, form)
  if (!bytes) return undefined
  const at = form === sealed ? codeBytes : bytes.length - codeBytes
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)]
  for (const key of keys) {
    const [code, body] = form === sealed ? [before, encrypted(key, before, after)] : [after, before]
    if (timingSafeEqual(codeOf(key, form, body), code)) return body
  }
  return undefined
}

function newest([key]: TokenKeys): Buffer {
  if (!key) throw new Error('there is no key to sign links with')
  return key
}

type Form = keyof typeof prefixBytes

function codeOf(key: Buffer, form: Form, body: Buffer): Buffer {
  return hmac(key, Buffer.concat([prefixBytes[form], body])).subarray(0, codeBytes)
}

/** AES in counter mode, begun by the code; the same again gives back the body. */
const encrypted = (key: Buffer, code: Buffer, body: Buffer) =>
  createCipheriv('aes-256-ctr', sealingKeyOf(key), code).update(body)

const sealingKeys = new WeakMap<Buffer, Buffer>()

// Another key than that of the codes, kept: making it costs more than all else of a token.
function sealingKeyOf(key: Buffer): Buffer {
  const made = sealingKeys.get(key) ?? Buffer.from(hkdfSync('sha256', key, '', 'posthorn sealed token', 32))
  sealingKeys.set(key, made)
  return made
}

// Only the one spelling that encoding gives is taken: otherwise one token would have many forms.
function decoded(token: string, form: Form): Buffer | undefined {
  if (token.length > longestToken || !token.startsWith(form)) return undefined
  const text = token.slice(form.length)
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
